package io.clairfs.cache.follow;

import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StagedCount;
import io.clairfs.cache.stage.StreamWindow;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The access stream of one rank that reads here, as a running job stages it: its window, how much of it is staged, and the pace of its trainer.
 *
 * <p>Life cycle: of its {@link JobRun}, which makes and closes it; once closed it stages nothing. Thread-safe: the job's lock guards all of its
 * state, and the public methods take it. The others are called under it.
 */
public final class RankStream {
    private static final int READY_LOOKED_AT = 256;
    private static final double NANOS_PER_SECOND = 1e9;

    private final JobRun job;
    private final StreamWindow window;
    private final StagedCount staged;
    private final Pace pace = new Pace();

    /** The stream that {@code window} moves along; {@code clockNs} only runs forward, nanoseconds. */
    RankStream(JobRun job, StreamWindow window, LongSupplier clockNs) {
        this.job = job;
        this.window = window;
        staged = new StagedCount(List.of(window), clockNs);
    }

    /** How many samples are staged before its trainer. */
    StagedCount staged() {
        return staged;
    }

    /** How fast its trainer reads. */
    Pace pace() {
        return pace;
    }

    /**
     * The next position to stage, or null.
     *
     * @param shareBytes what each stream may have staged and unread
     */
    public StreamWindow.@Nullable ToStage nextToStage(long shareBytes) throws InvalidSpecException {
        synchronized (job) {
            job.heedRequests();
            // A loader may still have a closed job on its list, and nothing would release what it took now.
            return job.isClosed() ? null : window.nextToStage(shareBytes);
        }
    }

    /** Whether it has less than {@code bytes} staged before its trainer, and more to stage. */
    public boolean isHungry(long bytes) {
        synchronized (job) {
            return !job.isClosed() && window.isHungry(bytes);
        }
    }

    /** The first {@code most} staged and unread positions from a sequence number on, in order. */
    public List<StreamWindow.StagedPosition> stagedFrom(long from, int most) {
        synchronized (job) {
            return job.isClosed() ? List.of() : window.stagedFrom(from, most);
        }
    }

    /** The samples of these positions were lost: they are staged next. */
    public void stageAgain(List<StreamWindow.StagedPosition> lost) {
        synchronized (job) {
            lost.forEach(position -> window.stageAgain(position.sequence()));
        }
    }

    /** Passes the next {@code most} files to stage to {@code each}, in order. */
    public void forEachToStage(int most, IntConsumer each) {
        synchronized (job) {
            window.forEachToStage(most, each);
        }
    }

    /** How many samples are staged before its trainer. */
    public int stagedAhead() {
        synchronized (job) {
            return staged.samples();
        }
    }

    /** How long its trainer can go on with what is staged, seconds; 0 when that is not known. */
    public double secondsStaged() {
        synchronized (job) {
            return window.readyAhead(READY_LOOKED_AT) * pace.nsPerSample() / NANOS_PER_SECOND;
        }
    }

    /** How long its trainer takes for so many samples, seconds; 0 when that is not known. */
    public double secondsOf(int samples) {
        synchronized (job) {
            return samples * pace.nsPerSample() / NANOS_PER_SECOND;
        }
    }

    /** Whether its rank has read all. */
    public boolean isAtEnd() {
        synchronized (job) {
            return window.position() == AccessStream.END;
        }
    }

    /** Releases everything that is staged. */
    void close() {
        window.close();
    }
}
