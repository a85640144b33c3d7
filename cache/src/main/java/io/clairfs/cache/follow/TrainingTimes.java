package io.clairfs.cache.follow;

import io.clairfs.cache.status.NodeTraffic;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The time that a job's trainers spend on each epoch, and how much of it waiting for data.
 *
 * <p>A daemon sees requests and closes, not the trainer's loop, unless the trainer tells. Limits of the wait follow. At most it is the smaller of
 *
 * <ul>
 *   <li>The time in which at least one reader waits. If all answers were instant, everything between would happen as it did, only earlier, so the
 *       epoch would be shorter by no more than that. With loader processes it may be far more than the trainer's wait, for others go on meanwhile.
 *   <li>The time of the epoch less that of its computation, which is the number of samples times what each takes while no reader waits ({@link
 *       CalmPace}). Without loader processes this adds nothing, for each read of a sample is a wait of the trainer.
 * </ul>
 *
 * <p>Loaders may be ahead of the trainer by a window, so it has computed on that many samples fewer than were read. At least it is what the computation of all samples leaves of the time in which readers waited, if each takes as long as {@link SustainedPace}
 * allows.
 *
 * <p>Where trainers tell, the wait is what they tell. Keeps the last {@value #KEPT} epochs. Not thread-safe: its job guards it. See docs/METRICS.md.
 */
final class TrainingTimes {
    static final int KEPT = 16;
    private static final double NANOS_PER_SECOND = 1e9;

    /** Ascending by number. */
    private final List<Epoch> epochs = new ArrayList<>();

    private final CalmPace pace;
    private final SustainedPace sustained;
    private final int window;
    private final boolean hasLoaders;
    private int lastRead = -1;
    private long waitedNs;
    private NodeTraffic before = NodeTraffic.NONE;

    /**
     * None so far.
     *
     * @param step samples that all ranks here read in one step; 0 if that is not known
     * @param window samples that the loader processes of all ranks here hold; 0 if that is not known
     * @param hasLoaders whether processes read for the trainers, or may do so; else trainers read themselves
     */
    TrainingTimes(int step, int window, boolean hasLoaders) {
        pace = new CalmPace(step);
        sustained = new SustainedPace(hasLoaders ? window : 0);
        this.window = window;
        this.hasLoaders = hasLoaders;
    }

    private static final class Epoch {
        final int number;
        final WaitIntervals waits = new WaitIntervals();
        long firstNs;
        long lastNs;
        int samples;

        /** What trainers have told, by rank. */
        final Map<Integer, Told> told = new TreeMap<>();

        NodeTraffic begin = NodeTraffic.NONE;
        NodeTraffic end = NodeTraffic.NONE;

        Epoch(int number, long nowNs) {
            this.number = number;
            firstNs = nowNs;
            lastNs = nowNs;
        }

        void seen(long fromNs, long toNs) {
            firstNs = Math.min(firstNs, fromNs);
            lastNs = Math.max(lastNs, toNs);
        }
    }

    private record Told(double waitedSeconds, double tookSeconds) {
        Told and(Told more) {
            return new Told(waitedSeconds + more.waitedSeconds, tookSeconds + more.tookSeconds);
        }
    }

    /** The trainer of a rank says that a further part of the epoch took so long in its loop, and how much of it was waiting for batches. */
    void told(int rank, double waitedSeconds, double tookSeconds) {
        if (!epochs.isEmpty()) {
            epochs.getLast().told.merge(rank, new Told(waitedSeconds, tookSeconds), Told::and);
        }
    }

    /** A sample of this epoch was read for the first time in it. */
    void read(int epoch, long nowNs) {
        if (epoch != lastRead) {
            pace.interrupted();
            sustained.interrupted();
            lastRead = epoch;
        }
        pace.read(nowNs);
        sustained.read(nowNs);
        Epoch at = epoch(epoch, nowNs);
        if (at != null) {
            at.samples++;
            at.seen(nowNs, nowNs);
        }
    }

    /**
     * As {@link #read}, but perhaps another reader did it, so it tells nothing of the trainer's pace, nor that it has begun the epoch. Returns whether it was
     * counted.
     */
    boolean readSuspect(int epoch) {
        return count(epoch, 1);
    }

    /** A sample of this epoch that was counted was not read by the trainer after all. */
    void unread(int epoch) {
        boolean _ = count(epoch, -1);
        epochs.removeIf(each -> each.number == epoch && each.samples == 0); // it has not begun
    }

    private boolean count(int epoch, int more) {
        for (Epoch at : epochs) {
            if (at.number == epoch) {
                at.samples += more;
                return true;
            }
        }
        return false;
    }

    /** A reader of a sample of this epoch waited from one time to another. */
    void waited(int epoch, long startNs, long endNs) {
        pace.waited(startNs, endNs);
        Epoch at = epoch(epoch, startNs);
        if (at != null) {
            long known = at.waits.totalNs();
            at.waits.add(startNs, endNs);
            waitedNs += at.waits.totalNs() - known;
            at.seen(startNs, endNs);
        }
    }

    /** What the node has read and fetched up to the last read. */
    void traffic(NodeTraffic now) {
        if (epochs.isEmpty()) {
            before = now;
            return;
        }
        Epoch current = epochs.getLast();
        if (current.end.equals(NodeTraffic.NONE)) {
            current.begin = before;
        }
        current.end = now;
        before = now;
    }

    /** The trainers have gone back to this epoch: it is timed anew. */
    void wentBackTo(int epoch) {
        epochs.removeIf(each -> each.number >= epoch);
        pace.interrupted();
        sustained.interrupted();
    }

    /** The epoch of this number; null for one that is older than all that are kept. */
    private @Nullable Epoch epoch(int number, long nowNs) {
        int at = epochs.size();
        while (at > 0 && epochs.get(at - 1).number > number) {
            at--;
        }
        if (at > 0 && epochs.get(at - 1).number == number) {
            return epochs.get(at - 1);
        }
        if (at == 0 && epochs.size() == KEPT) {
            return null;
        }
        Epoch made = new Epoch(number, nowNs);
        epochs.add(at, made);
        if (epochs.size() > KEPT) {
            epochs.removeFirst();
        }
        return made;
    }

    /** The last epochs, in order. */
    List<EpochTime> epochs() {
        return epochs.stream().map(this::time).toList();
    }

    private EpochTime time(Epoch of) {
        double lastedNs = of.lastNs - of.firstNs;
        double readersNs = of.waits.totalNs();
        boolean isTold = !of.told.isEmpty();
        double seconds = isTold ? mean(of, Told::tookSeconds) : lastedNs / NANOS_PER_SECOND;
        double most = readersNs;
        double least = readersNs;
        if (hasLoaders) {
            double computingNs = (of.samples - window) * Math.min(pace.nsPerSample(), sustained.nsPerSample());
            most = window > 0 && computingNs > 0 ? Math.min(readersNs, Math.max(0, lastedNs - computingNs)) : readersNs;
            double busyNs = of.samples * sustained.nsPerSample(); // infinite, or not a number, while not known
            least = busyNs < readersNs ? Math.min(most, readersNs - busyNs) : 0;
        }
        return new EpochTime(
                of.number,
                seconds,
                of.samples,
                readersNs / NANOS_PER_SECOND,
                isTold ? mean(of, Told::waitedSeconds) : most / NANOS_PER_SECOND,
                isTold ? mean(of, Told::waitedSeconds) : least / NANOS_PER_SECOND,
                isTold,
                of.end.since(of.begin));
    }

    private static double mean(Epoch of, ToDoubleFunction<Told> what) {
        return of.told.values().stream().mapToDouble(what).average().orElse(0);
    }

    /** In which at least one reader of the job waited, seconds; never shrinks. */
    double readerWaitSeconds() {
        return waitedNs / NANOS_PER_SECOND;
    }

    /** What a sample takes the trainers here while no reader waits, seconds; 0 while that is not known. */
    double sampleSeconds() {
        return pace.nsPerSample() / NANOS_PER_SECOND;
    }
}
