package io.clairfs.cache.seed;

import io.clairfs.cache.seed.ReadPlaces.Run;
import io.clairfs.cache.seed.ReadPlaces.Track;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.ToIntFunction;

/**
 * How an order is dealt: to how many ranks, of which some read here, in what batches, to how many workers of each.
 *
 * <p>With a step of two and more the step is the world, and the places modulo the step are the ranks. With a step of 1 a rank gets whole
 * batches: how long they are, and so who gets which, shows only when a reader has finished one.
 *
 * @param batch samples that a rank reads in a step; 0 when that cannot be seen
 * @param workers of each rank; 0 when that cannot be seen
 * @param byBatch whether ranks get whole batches in turn, in place of samples
 */
record Layout(int world, int firstRank, int lastRank, int batch, int workers, boolean byBatch) {
    /** One rank that reads all, in a way that nothing is known of. */
    static final Layout ONE_RANK = new Layout(1, 0, 0, 0, 0, false);

    private static final int MOST_RANKS = 64;
    private static final int MOST_BATCH = 1 << 16;

    /** Reads at the beginning of a run that may be missing, because another read came between them. */
    private static final int MISSING = 2;

    /** The layout that explains {@code tracks}, if one does. */
    static Optional<Layout> of(List<Track> tracks, int step) {
        return step == 1 ? consecutive(tracks) : dealt(tracks, step).filter(layout -> layout.ranks() <= MOST_RANKS);
    }

    int ranks() {
        return lastRank - firstRank + 1;
    }

    /** Whether all ranks read here. */
    boolean readsAll() {
        return ranks() == world;
    }

    /** The same for a sampler without ranks. */
    Layout ofOneRank() {
        return world == 1 ? this : ONE_RANK;
    }

    /** The line with the keys of this layout; a world of one rank is not mentioned. */
    String addTo(String line) {
        StringBuilder all = new StringBuilder();
        for (String pair : line.split(" ", -1)) {
            if (workers == 0 || !pair.startsWith("workers=")) {
                all.append(all.isEmpty() ? "" : " ").append(pair);
            }
        }
        if (world > 1) {
            all.append(" world=").append(world).append(" ranks=").append(firstRank);
            all.append(lastRank > firstRank ? "-" + lastRank : "");
        }
        all.append(batch > 0 ? " batch=" + batch : "").append(workers > 0 ? " workers=" + workers : "");
        return all.toString();
    }

    private static Optional<Layout> dealt(List<Track> tracks, int step) {
        TreeSet<Integer> residues = new TreeSet<>();
        tracks.forEach(track -> track.runs().forEach(run -> residues.add(run.start() % step)));
        if (residues.isEmpty()) {
            return Optional.empty();
        }
        int apart = step;
        for (int residue : residues) {
            apart = gcd(apart, residue - residues.first());
        }
        // Batches of one sample: the workers of a rank read every so many of its samples.
        boolean single = residues.size() > 1 && apart > 1 && apart * residues.size() == step;
        int world = single ? apart : step;
        int first = residues.first() % world;
        int last = single ? first : residues.last();
        int batch = single ? 1 : gcdOf(tracks, run -> run.start() / step);
        boolean shown = batch <= MOST_BATCH && (single || longest(tracks) <= batch);
        return Optional.of(new Layout(
                world, first, last, shown ? batch : 0, single ? residues.size() : workers(tracks, world), false));
    }

    /** The most readers that one rank has; one may be the rank itself. */
    private static int workers(List<Track> tracks, int world) {
        Map<Integer, Integer> ofRank = new HashMap<>();
        for (Track track : tracks) {
            if (track.known()) {
                ofRank.merge(track.runs().getFirst().start() % world, 1, Integer::sum);
            }
        }
        int most = ofRank.values().stream().mapToInt(i -> i).max().orElse(0);
        return most > 1 ? most : 0;
    }

    private static Optional<Layout> consecutive(List<Track> tracks) {
        int batch = finishedBatch(tracks);
        return batch == 0 ? oneRank(tracks) : inBatches(tracks, batch);
    }

    /** No reader has finished a batch. */
    private static Optional<Layout> oneRank(List<Track> tracks) {
        int first = tracks.stream().mapToInt(Layout::start).min().orElse(Integer.MAX_VALUE);
        if (first > MISSING) {
            return Optional.empty();
        }
        int batch = gcdOf(tracks, run -> run.start() <= MISSING ? 0 : run.start());
        boolean shown = batch <= MOST_BATCH && longest(tracks) <= batch;
        return Optional.of(new Layout(1, 0, 0, shown ? batch : 0, workers(tracks, 1), false));
    }

    private static Optional<Layout> inBatches(List<Track> tracks, int batch) {
        TreeSet<Integer> firsts = new TreeSet<>();
        Map<Integer, Integer> jumps = new HashMap<>();
        for (Track track : tracks) {
            Run before = null;
            for (Run run : track.runs()) {
                if (run.start() % batch > Math.min(MISSING, batch - 1)) {
                    return Optional.empty();
                }
                if (before == null) {
                    firsts.add(run.start() / batch);
                } else {
                    jumps.merge(run.start() / batch - before.start() / batch, 1, Integer::sum);
                }
                before = run;
            }
        }
        int readers = firsts.size();
        if (firsts.first() == 0 && firsts.last() == readers - 1 && commonest(jumps) == readers) {
            return Optional.of(new Layout(1, 0, 0, batch, readers > 1 ? readers : 0, false));
        }
        return dealtInBatches(firsts, commonest(jumps), batch)
                .or(() -> firsts.first() == 0 && gcdOfAll(firsts) <= 1
                        ? Optional.of(new Layout(1, 0, 0, batch, readers, false))
                        : Optional.empty());
    }

    /** A reader's batches are world x workers apart; the first ones of all readers are ranks first to last, once for each worker. */
    private static Optional<Layout> dealtInBatches(TreeSet<Integer> firsts, int jump, int batch) {
        for (int ranks = 1; ranks <= Math.min(firsts.size(), MOST_RANKS); ranks++) {
            int workers = firsts.size() / ranks;
            int world = jump / workers;
            int first = firsts.first();
            if (workers * ranks != firsts.size()
                    || world * workers != jump
                    || world <= ranks
                    || first + ranks > world) {
                continue;
            }
            TreeSet<Integer> expected = new TreeSet<>();
            for (int worker = 0; worker < workers; worker++) {
                for (int rank = 0; rank < ranks; rank++) {
                    expected.add(first + rank + worker * world);
                }
            }
            if (expected.equals(firsts)) {
                return Optional.of(new Layout(world, first, first + ranks - 1, batch, workers > 1 ? workers : 0, true));
            }
        }
        return Optional.empty();
    }

    /** The commonest length of a run after which its reader went on elsewhere; 0 when none did. */
    private static int finishedBatch(List<Track> tracks) {
        Map<Integer, Integer> lengths = new HashMap<>();
        for (Track track : tracks) {
            List<Run> runs = track.runs();
            for (int i = 0; i + 1 < runs.size(); i++) {
                if (runs.get(i + 1).start() > runs.get(i).end()) {
                    lengths.merge(runs.get(i).end() - runs.get(i).start() + 1, 1, Integer::sum);
                }
            }
        }
        return commonest(lengths);
    }

    private static int commonest(Map<Integer, Integer> counts) {
        return counts.entrySet().stream()
                .max(Map.Entry.<Integer, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse(0);
    }

    private static int start(Track track) {
        return track.runs().getFirst().start();
    }

    private static int longest(List<Track> tracks) {
        return tracks.stream()
                .flatMap(track -> track.runs().stream())
                .mapToInt(Run::length)
                .max()
                .orElse(0);
    }

    private static int gcdOf(List<Track> tracks, ToIntFunction<Run> place) {
        List<Integer> places = new ArrayList<>();
        tracks.forEach(track -> places.add(place.applyAsInt(track.runs().getFirst())));
        return gcdOfAll(places);
    }

    private static int gcdOfAll(Collection<Integer> numbers) {
        int all = 0;
        for (int number : numbers) {
            all = gcd(all, number);
        }
        return all;
    }

    private static int gcd(int a, int b) {
        return b == 0 ? a : gcd(b, a % b);
    }
}
