package io.clairfs.tools.node.job;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.plan.preprocess.PreprocessModel;
import io.clairfs.cache.plan.preprocess.WorkerAdvice;
import io.clairfs.tools.config.ModelFile;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the loaders of the trainers on this node have reported, and what the preprocessing model makes of it (Lobster, ICPP 2022, section 4.1).
 *
 * <p>Of each rank the last reports count, as an exponential moving average over samples. Where nothing was measured by {@code calibrate --decode},
 * the model takes it that transforms do not hinder each other until each processor has one. Thread-safe.
 */
public final class LoaderReports {
    /** The number of samples after which an older report has lost most of its weight. */
    private static final double SAMPLES_KEPT = 512;

    private final ModelFile measured;
    private final int processors;
    private final Map<String, OfJob> jobs = new HashMap<>();

    /**
     * No reports so far.
     *
     * @param measured on this machine, if there is anything
     * @param processors of this machine
     */
    public LoaderReports(ModelFile measured, int processors) {
        this.measured = measured;
        this.processors = processors;
    }

    private record OfJob(JobSpec spec, Map<Integer, LoaderReport> byRank) {}

    /**
     * What the workers of a job's ranks on this node do, and what would be better.
     *
     * @param workers of all ranks together
     * @param readSeconds that a sample waits for its bytes, mean over the ranks
     * @param transformSeconds that is then worked on it
     * @param advice for each rank's loader
     */
    public record Loading(int workers, double readSeconds, double transformSeconds, String advice) {}

    /** Takes a report on a job that is present, of one of its ranks here. Forgets the jobs that are not in {@code present}. */
    public synchronized void add(JobSpec spec, LoaderReport report, Set<String> present) {
        jobs.keySet().retainAll(present);
        OfJob job = jobs.get(spec.name());
        if (job == null || !job.spec.equals(spec)) {
            job = new OfJob(spec, new TreeMap<>());
            jobs.put(spec.name(), job);
        }
        LoaderReport before = job.byRank.get(report.rank());
        job.byRank.put(report.rank(), before == null ? report : merged(before, report));
    }

    private static LoaderReport merged(LoaderReport before, LoaderReport now) {
        if (before.workers() != now.workers()) {
            return now; // another loader
        }
        double kept = Math.exp(-now.samples() / SAMPLES_KEPT);
        return new LoaderReport(
                now.rank(),
                now.workers(),
                now.samples(),
                now.readSeconds() + kept * (before.readSeconds() - now.readSeconds()),
                now.transformSeconds() + kept * (before.transformSeconds() - now.transformSeconds()));
    }

    /** The reports, a line for each rank of each job, by name. */
    public synchronized String text() {
        return new TreeMap<>(jobs)
                .values().stream()
                        .flatMap(job -> job.byRank.values().stream().map(report -> line(job.spec.name(), report)))
                        .collect(Collectors.joining());
    }

    private static String line(String job, LoaderReport report) {
        return String.format(
                Locale.ROOT,
                "job=%s rank=%d workers=%d samples=%d read=%.6f transform=%.6f%n",
                job,
                report.rank(),
                report.workers(),
                report.samples(),
                report.readSeconds(),
                report.transformSeconds());
    }

    /**
     * What is known of a job's loaders; null without a report.
     *
     * @param sampleBytes of one of its samples, mean
     */
    public synchronized @Nullable Loading of(JobSpec spec, long sampleBytes) {
        OfJob job = jobs.get(spec.name());
        if (job == null || !job.spec.equals(spec)) {
            return null;
        }
        int ranks = job.byRank.size();
        int workers =
                job.byRank.values().stream().mapToInt(LoaderReport::workers).sum();
        double read = job.byRank.values().stream()
                .mapToDouble(LoaderReport::readSeconds)
                .average()
                .orElseThrow();
        double transform = job.byRank.values().stream()
                .mapToDouble(LoaderReport::transformSeconds)
                .average()
                .orElseThrow();
        return new Loading(workers, read, transform, advice(ranks, workers, read, transform, sampleBytes));
    }

    private String advice(int ranks, int workers, double read, double transform, long sampleBytes) {
        if (transform == 0) {
            return "nothing is transformed: num_workers makes no difference to that";
        }
        PreprocessModel known = measured.preprocessing();
        PreprocessModel model = known == null ? PreprocessModel.unmeasured(transform, processors) : known;
        int all = WorkerAdvice.workers(model.curve(Math.max(1, sampleBytes)), workers, read, transform);
        return "num_workers=" + Math.ceilDiv(all, ranks) + "; more do not help (98 % of peak)";
    }
}
