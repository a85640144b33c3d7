package io.clairfs.cache.prefetch;

import io.clairfs.cache.fetch.FetchAhead;
import io.clairfs.cache.fetch.FetchRouter;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.PriorityBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * The samples that peers send ahead of time, while loaders go on: as many bytes of each peer as its path holds, whatever the number of loaders.
 *
 * <p>A task {@link #begin begins} here, waits for its peer's answer in no thread, and is {@link #answered} then. One whose peer owes
 * enough already is put aside until that has sent something. Thread-safe without a lock.
 */
final class AheadQueue implements AutoCloseable {
    private final FetchRouter router;
    private final WorkSignal answers;
    private final Queue<StagingTask> aside = new PriorityBlockingQueue<>(
            1, Comparator.comparingLong(task -> task.claim().number()));
    private final Queue<StagingTask> answered = new ConcurrentLinkedQueue<>();
    private final Queue<StagingTask> left = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    /** {@code answers} is woken when there is an answer. */
    AheadQueue(FetchRouter router, WorkSignal answers) {
        this.router = router;
        this.answers = answers;
    }

    /** What became of a task. */
    enum Begun {
        /** It does not come from a peer that can be asked ahead of time: it has to be fetched by a loader. */
        NO,
        /** Its peer owes enough. The task is put aside. */
        LATER,
        YES
    }

    /** Asks a peer for the sample of a task, if it comes from one. Its loader is free then. */
    Begun begin(StagingTask task) {
        try {
            return beginOrPutAside(task);
        } catch (RuntimeException | Error bug) {
            task.close();
            throw bug;
        }
    }

    private Begun beginOrPutAside(StagingTask task) {
        FetchAhead fetch =
                task.loading().isMine() ? router.ahead(task.file(), task.claim().number(), task) : null;
        if (fetch == null) {
            return Begun.NO;
        }
        if (!fetch.takeRoom()) {
            aside.add(task);
            return Begun.LATER;
        }
        task.sentAhead(fetch);
        task.fetched();
        if (fetch.begin(() -> answered(task))) {
            return Begun.YES;
        }
        task.notSentAhead();
        return Begun.NO;
    }

    private void answered(StagingTask task) {
        answered.add(task);
        answers.wake(1);
        if (closed) {
            abandonAll();
        }
    }

    /** A task that was put aside; null when there is none. */
    @Nullable
    StagingTask aside() {
        return aside.poll();
    }

    /** A task that was answered, with its sample or without; null when there is none. */
    @Nullable
    StagingTask answered() {
        return answered.poll();
    }

    /** Whether a task waits that was answered. */
    boolean hasAnswers() {
        return !answered.isEmpty();
    }

    /** Leaves a task to a loader: its fetch blocks. */
    void leave(StagingTask task) {
        left.add(task);
    }

    /** A task for a loader; null when there is none. */
    @Nullable
    StagingTask left() {
        return left.poll();
    }

    /** Gives up all tasks that are here, and those that are answered later. */
    @Override
    public void close() {
        closed = true;
        abandonAll();
    }

    private void abandonAll() {
        for (Queue<StagingTask> tasks : List.of(aside, answered, left)) {
            for (StagingTask task = tasks.poll(); task != null; task = tasks.poll()) {
                task.close();
            }
        }
    }
}
