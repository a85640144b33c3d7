package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.follow.JobRun;
import java.util.ArrayList;
import java.util.List;

/**
 * How far the tiers of this node are filled.
 *
 * @param isPlanned whether a plan for all jobs says what they should hold; without one {@code wanted} may be less than there will be
 * @param wanted what the plan wants here
 * @param there those of them that are here
 * @param resident all samples here, wanted or not
 * @param arriving those of the wanted ones that are missing and on their way
 * @param jobs the same for what each job reads
 */
public record Filled(
        boolean isPlanned, Amount wanted, Amount there, Amount resident, Arriving arriving, List<OfJob> jobs) {
    public Filled {
        jobs = List.copyOf(jobs);
    }

    /** Samples and their bytes. */
    public record Amount(long samples, long bytes) {}

    /**
     * Samples that are being fetched.
     *
     * @param bytes of their files that the source has given so far
     * @param whole how many of them another place gives whole, such as a peer, or is asked for: nothing is known of their bytes
     */
    public record Arriving(long samples, long bytes, long whole) {
        public static final Arriving NONE = new Arriving(0, 0, 0);
    }

    /** What of the wanted samples a job reads, and whether the plan is one for it. A sample of two jobs counts for both. */
    public record OfJob(String name, boolean isPlanned, Amount wanted, Amount there) {}

    /** A count that grows. */
    private static final class Sum {
        private long samples;
        private long bytes;

        private void add(long size) {
            samples++;
            bytes += size;
        }

        private Amount amount() {
            return new Amount(samples, bytes);
        }
    }

    /** How far they are now. Looks at each file of the dataset, without a lock. */
    public static Filled now(DatasetTree tree, Admission admission, Arriving arriving, List<JobRun> jobs) {
        LocalPlan plan = admission.plan();
        ResidentSamples residents = admission.residents();
        boolean hasPlan = admission.hasPlan() && !plan.isMeanwhile() && !plan.isPending();
        Sum wanted = new Sum();
        Sum there = new Sum();
        Sum resident = new Sum();
        List<Sum> wantedByJob = jobs.stream().map(_ -> new Sum()).toList();
        List<Sum> thereByJob = jobs.stream().map(_ -> new Sum()).toList();
        for (int file = 0; file < tree.entryCount(); file++) {
            boolean isHere = residents.isHere(file);
            boolean isWanted = hasPlan && isWanted(plan, admission, file);
            if (!isHere && !isWanted) {
                continue;
            }
            long size = tree.keptSize(file);
            if (isHere) {
                resident.add(size);
            }
            if (isWanted) {
                wanted.add(size);
                addIf(isHere, there, size);
                for (int job = 0; job < jobs.size(); job++) {
                    if (jobs.get(job).index().sampleOf(file) >= 0) {
                        wantedByJob.get(job).add(size);
                        addIf(isHere, thereByJob.get(job), size);
                    }
                }
            }
        }
        List<OfJob> byJob = new ArrayList<>();
        for (int job = 0; job < jobs.size(); job++) {
            byJob.add(new OfJob(
                    jobs.get(job).spec().name(),
                    hasPlan && plan.covers(jobs.get(job)),
                    wantedByJob.get(job).amount(),
                    thereByJob.get(job).amount()));
        }
        return new Filled(
                hasPlan && jobs.stream().allMatch(plan::covers),
                wanted.amount(),
                there.amount(),
                resident.amount(),
                arriving,
                byJob);
    }

    /** Whether {@code plan} wants the sample in a tier here that can have it. */
    public static boolean isWanted(LocalPlan plan, Admission admission, int file) {
        int tier = plan.tierOf(file);
        return tier == ResidentSamples.MEMORY || (tier >= 0 && admission.mayBeWhole(file));
    }

    private static void addIf(boolean isSo, Sum sum, long size) {
        if (isSo) {
            sum.add(size);
        }
    }
}
