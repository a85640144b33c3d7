package io.clairfs.cache.seed;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.torch.TorchRandperm;
import io.clairfs.cache.seed.ReadPlaces.Fit;
import io.clairfs.cache.seed.ReadPlaces.Track;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Looks for the sampler, seed, world and ranks that explain the first reads of a training. For one thread.
 *
 * <p>A candidate is tried by the first elements of its order: which reads are among them, and are those of one reader equally far apart? What
 * shows something is confirmed with its sampler's whole order and all reads, and taken when {@link Chance} says so. Likely candidates come
 * first: no seed, the usual seeds, then all others.
 */
public final class SeedSearch {
    /** Seeds below this are tried in seconds. */
    static final int NEAR = 1_000_000;

    /** Seeds below this are tried in the background. */
    static final int FAR = 1 << 24;

    /** Elements that are looked at where worlds may be larger than usual. */
    private static final int LONG = 1024;

    /** Of the readers that read several samples, this part of their reads must be explained. */
    private static final double EXPLAINED = 0.5;

    /** Of reads whose order by reader says nothing, this part must be among the first. */
    private static final double AMONG_THE_FIRST = 0.9;

    /** Below so many samples a whole order costs little, so that all usual seeds come before the unusual ones. */
    private static final int SMALL = 100_000;

    /** Bounds the whole orders of a family: with very large datasets only the likeliest seeds are tried. */
    private static final int ELEMENTS_OF_WHOLE_ORDERS = 200_000_000;

    private static final int FEWEST_SEEDS = 8;
    private static final int CANDIDATES_PER_SLICE = 256;
    private static final double NANOSECONDS_PER_SAMPLE = 6;
    private static final double NANOSECONDS_PER_ORDER = 40_000;
    private static final double NANOSECONDS_PER_CANDIDATE = 500;

    /** Worlds up to this one are found with any of their ranks, in the near seeds. */
    private static final int USUAL_WORLD = 64;

    private final int samples;
    private volatile long candidates;

    /** @param samples how many samples the dataset has */
    public SeedSearch(int samples) {
        this.samples = samples;
    }

    /** How many candidates the last search, or the one that runs, has tried; for any thread. */
    public long candidates() {
        return candidates;
    }

    /**
     * The order that explains {@code reads}, when there is one that chance would not give. The reads must begin where an epoch begins.
     *
     * <p>Batches, and so whole batches that are dealt to ranks, show when a reader has finished one: a search that comes earlier may take a
     * rank's part for the whole order. More reads of the same epoch then give another result.
     *
     * @param goOn asked between slices of about a millisecond of work, or one whole order where that takes longer; false ends the search
     *     without a result
     */
    public Optional<FoundOrder> search(FirstReads.Snapshot reads, SearchExtent extent, BooleanSupplier goOn) {
        candidates = 0;
        ReadPlaces places = new ReadPlaces(reads, samples);
        return sayEnough(places) ? new Search(places, goOn).run(extent) : Optional.empty();
    }

    /** As {@link #search}, among the seeds from {@code from} to {@code to - 1} alone. */
    Optional<FoundOrder> between(FirstReads.Snapshot reads, long from, long to) {
        candidates = 0;
        ReadPlaces places = new ReadPlaces(reads, samples);
        return sayEnough(places) ? new Search(places, () -> true).among(from, to) : Optional.empty();
    }

    /** Whether an order that has all reads would be taken. */
    private boolean sayEnough(ReadPlaces places) {
        return Chance.ofSteps(samples, places.reads(), places.mostFits(), places.window()) < Chance.MOST
                || ofFirst(places, places.reads()) < Chance.MOST;
    }

    private double ofFirst(ReadPlaces places, int fits) {
        return Chance.ofFirst(samples, places.reads(), fits, first(places));
    }

    /** How far into an order the first reads reach when readers take its samples as they come. */
    private static int first(ReadPlaces places) {
        return places.reads() + places.reads() / 4 + 64;
    }

    /** The families whose candidates cost microseconds, over {@code samples} samples. */
    static List<PrefixFamily> prefixFamilies(int samples) {
        if (samples >= TorchRandperm.LARGE) {
            return List.of(new GrainFamily(samples));
        }
        List<PrefixFamily> families = new ArrayList<>(TorchFamily.all(samples));
        families.add(new TfDataFamily(samples));
        families.add(new GrainFamily(samples));
        return families;
    }

    /** One search; {@code found} or {@code stopped} ends it. */
    private final class Search {
        private final ReadPlaces places;
        private final BooleanSupplier goOn;
        private final List<PrefixFamily> prefixes = prefixFamilies(samples);
        private final int[] order = new int[PrefixFamily.MOST];
        private Optional<FoundOrder> found = Optional.empty();
        private final int enough;
        private boolean stopped;
        private int inSlice;
        private long inAll;

        Search(ReadPlaces places, BooleanSupplier goOn) {
            this.places = places;
            this.goOn = goOn;
            enough = enough();
        }

        Optional<FoundOrder> run(SearchExtent extent) {
            switch (extent) {
                case USUAL -> usual();
                case WIDE -> {
                    range(0, NEAR, LONG);
                    range(NEAR, FAR, 0);
                }
            }
            return found;
        }

        Optional<FoundOrder> among(long from, long to) {
            range(from, to, 0);
            return found;
        }

        private void usual() {
            for (OrderFamily family : WholeFamily.SEEDLESS) {
                tryWhole(family, 0);
            }
            trySeeds(UsualSeeds.many(), 0);
            trySeeds(UsualSeeds.many(), PrefixFamily.MOST);
            if (samples <= SMALL) {
                tryWholeOrders();
                range(0, NEAR, 0);
            } else {
                range(0, NEAR, 0);
                tryWholeOrders();
            }
        }

        private boolean ended() {
            return stopped || found.isPresent();
        }

        private void tried(int count) {
            inAll += count;
            candidates = inAll;
            inSlice += count;
            if (inSlice >= CANDIDATES_PER_SLICE) {
                inSlice = 0;
                stopped = stopped || !goOn.getAsBoolean();
            }
        }

        private void tryWholeOrders() {
            long[] seeds = UsualSeeds.few();
            for (long seed :
                    Arrays.copyOf(seeds, Math.clamp(ELEMENTS_OF_WHOLE_ORDERS / samples, FEWEST_SEEDS, seeds.length))) {
                for (OrderFamily family : WholeFamily.SEEDED) {
                    tryWhole(family, seed);
                }
            }
        }

        private void tryWhole(OrderFamily family, long seed) {
            if (ended()) {
                return;
            }
            confirm(family, seed);
            tried(samples < 10_000 ? 1 : CANDIDATES_PER_SLICE);
        }

        private void range(long from, long to, int length) {
            long[] seeds = new long[PrefixFamily.LANES];
            for (long seed = from; seed < to && !ended(); seed += seeds.length) {
                for (int lane = 0; lane < seeds.length; lane++) {
                    seeds[lane] = seed + lane;
                }
                tryLanes(seeds, length, true);
            }
        }

        private void trySeeds(long[] all, int length) {
            long[] seeds = new long[PrefixFamily.LANES];
            for (int at = 0; at < all.length && !ended(); at += seeds.length) {
                for (int lane = 0; lane < seeds.length; lane++) {
                    seeds[lane] = all[Math.min(at + lane, all.length - 1)];
                }
                tryLanes(seeds, length, false);
            }
        }

        private void tryLanes(long[] seeds, int length, boolean inTurn) {
            for (PrefixFamily family : prefixes) {
                if (inTurn && seeds[0] >= family.seeds()) {
                    continue;
                }
                family.seed(seeds);
                for (int lane = 0; lane < seeds.length && !ended(); lane++) {
                    int count = family.first(lane, order, length > 0 ? length : Math.min(enough, family.most()));
                    places.clear();
                    places.scan(order, count);
                    if (showsSomething(count)) {
                        confirm(family, seeds[lane]);
                    }
                }
                tried(seeds.length);
            }
        }

        /** Whether more reads are among the first elements of the candidate, or equally far apart, than in most orders. */
        private boolean showsSomething(int count) {
            int hits = places.hits();
            if (hits < 2) {
                return false;
            }
            double usual = (double) places.reads() * count / samples;
            return hits > usual + 6 * Math.sqrt(usual) + 6 || places.fit().fits() >= fewestFits(count);
        }

        /** So many elements that a rank of the usual world has one fit more among them than it needs. */
        private int enough() {
            int count = USUAL_WORLD;
            while (count < PrefixFamily.MOST && count < USUAL_WORLD * (2 + fewestFits(count))) {
                count += USUAL_WORLD;
            }
            return count;
        }

        /** So many fits that confirming the orders which have them by chance costs less than what was done to find them. */
        private int fewestFits(int count) {
            double perStep = (double) places.reads() * places.window() * count / samples / samples;
            double rate = count;
            double most = NANOSECONDS_PER_CANDIDATE / (NANOSECONDS_PER_SAMPLE * samples + NANOSECONDS_PER_ORDER);
            int fits = 0;
            while (rate > most && fits < places.reads()) {
                fits++;
                rate *= perStep / fits;
            }
            return Math.max(1, fits);
        }

        private void confirm(OrderFamily family, long seed) {
            try {
                EpochOrder whole = order(family.whole(seed));
                places.clear();
                places.scan(whole, 0, 0, whole.length(0));
                Fit fit = places.fit();
                double chance = Chance.ofSteps(samples, places.reads(), fit.fits(), places.window());
                if (chance < Chance.MOST) {
                    List<Track> tracks = places.tracks(fit.step());
                    Optional<Layout> layout =
                            Layout.of(tracks, fit.step()).filter(l -> isPossible(family.dealing(), l));
                    if (layout.isPresent() && take(family, seed, layout.get(), explained(tracks), chance)) {
                        return;
                    }
                }
                int among = places.hitsBefore(first(places));
                double ofFirst = ofFirst(places, among);
                if (ofFirst < Chance.MOST && among >= AMONG_THE_FIRST * places.reads()) {
                    take(family, seed, Layout.ONE_RANK, among, ofFirst);
                }
            } catch (InvalidSpecException e) {
                throw new IllegalStateException("a candidate is no order: " + e.getMessage(), e);
            }
        }

        private EpochOrder order(String line) throws InvalidSpecException {
            return JobSpec.parse(line).sampler(samples).epoch(0);
        }

        private int explained(List<Track> tracks) {
            return tracks.stream()
                    .flatMap(track -> track.runs().stream())
                    .mapToInt(ReadPlaces.Run::length)
                    .sum();
        }

        /** Takes the candidate if the order of its own line has the reads. */
        private boolean take(OrderFamily family, long seed, Layout layout, int explained, double chance)
                throws InvalidSpecException {
            String line = family.line(seed, layout);
            JobSpec job = JobSpec.parse(line);
            EpochOrder dealt = job.sampler(samples).epoch(0);
            places.clear();
            for (int rank = job.firstRank(); rank <= job.lastRank(); rank++) {
                places.scan(dealt, rank, 0, dealt.length(rank));
            }
            int counted = Math.min(explained, places.hits());
            if (counted < EXPLAINED * (places.reads() - places.alone())) {
                return false;
            }
            found = Optional.of(new FoundOrder(line, 0, counted, places.reads(), chance));
            return true;
        }
    }

    private static boolean isPossible(Dealing dealing, Layout layout) {
        return switch (dealing) {
            case TO_ONE -> layout.readsAll();
            case BY_SAMPLE -> !layout.byBatch();
            case BY_SAMPLE_OR_BATCH -> true;
        };
    }
}
