package io.clairfs.gpufeeder.feed;

import io.clairfs.gpufeeder.ring.BatchRing;
import io.clairfs.gpufeeder.ring.ToTrainer;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Which sample is loaded next, and which batch is sent next, for one trainer.
 *
 * <p>Threads take samples in the order of the job, across the ends of batches and epochs, as long as slots are free. A batch is sent when it and all
 * before it are finished. A trainer that goes elsewhere begins a new turn: batches of earlier turns are no longer filled, and their slots become free, in
 * the feeder those that were not sent, by the trainer those that were. Where the order of an epoch cannot be read, the trainer gets the batches before it,
 * then the reason.
 *
 * <p>Thread-safe. The order of an epoch is read by the thread that needs it first, outside the lock.
 */
final class BatchQueue {
    private static final long NO_TURN = 0;
    private static final long LATER_MS = 100;

    /** So many epochs in a row may have no batch: the trainer is told of each, and nothing that it gives back says how far it is. */
    private static final int MOST_EMPTY_EPOCHS = 32;

    /** The orders of a job's epochs. */
    interface Orders {
        /** The samples of an epoch; fails with {@link OrderLaterException} while it is not there. */
        int[] order(int epoch) throws IOException;
    }

    /** Where messages to the trainer go; they reach it in the order in which they were given. */
    interface Outlet {
        void send(ToTrainer message) throws IOException;
    }

    private final MountedJob job;
    private final Orders orders;
    private final FeedOptions options;
    private final BatchRing ring;
    private final Outlet trainer;
    private final FeedFigures figures;

    private final Deque<Integer> free = new ArrayDeque<>();
    private final boolean[] isSent;
    private final Deque<Assembly> unsent = new ArrayDeque<>();
    private @Nullable Assembly current;

    private long turn = NO_TURN;
    private int epoch;
    private int step;
    private int @Nullable [] order;
    private boolean readingOrder;
    private int threads;
    private boolean done;

    /** How many epochs before the next one have had no batch. */
    private int emptyEpochs;

    /** Why the order of an epoch cannot be read: the trainer is told behind the batches of the orders before it. */
    private @Nullable IOException ending;

    private boolean closed;
    private @Nullable IOException failure;
    private boolean isTold;

    BatchQueue(
            MountedJob job, Orders orders, FeedOptions options, BatchRing ring, Outlet trainer, FeedFigures figures) {
        this.job = job;
        this.orders = orders;
        this.options = options;
        this.ring = ring;
        this.trainer = trainer;
        this.figures = figures;
        threads = options.threads();
        int slots = ring.layout().slots();
        isSent = new boolean[slots];
        for (int slot = 0; slot < slots; slot++) {
            free.add(slot);
        }
    }

    /** A sample to load: its place in a batch. */
    record Task(Assembly batch, int at) {}

    /**
     * The next sample. Waits for a free slot, and for the trainer to say where to begin.
     *
     * @param thread the caller's number, from 0
     * @return null when there is nothing more to do for this trainer
     */
    @Nullable
    Task take(int thread) throws InterruptedException {
        while (true) {
            long ofTurn;
            int ofEpoch;
            synchronized (this) {
                while (!closed && (thread >= threads || !canGoOn())) {
                    wait();
                }
                if (closed) {
                    return null;
                }
                if (current == null && order != null) {
                    current = open(order);
                }
                if (current != null) {
                    Task task = new Task(current, current.take());
                    current = current.hasMore() ? current : null;
                    return task;
                }
                readingOrder = true;
                ofTurn = turn;
                ofEpoch = epoch;
            }
            readOrder(ofTurn, ofEpoch);
        }
    }

    private boolean canGoOn() {
        return current != null || (turn != NO_TURN && !done && !readingOrder && (order == null || !free.isEmpty()));
    }

    /** From now on the threads with numbers below this take samples; the others wait. */
    synchronized void useThreads(int wanted) {
        threads = Math.clamp(wanted, 1, options.threads());
        notifyAll();
    }

    private Assembly open(int[] samples) {
        int first = step * options.batch();
        int count = Math.min(options.batch(), samples.length - first);
        emptyEpochs = 0;
        Assembly batch = new Assembly(free.remove(), turn, epoch, step, samples, first, count);
        unsent.add(batch);
        step++;
        if (step >= steps(samples)) {
            epoch++;
            step = 0;
            order = null;
        }
        return batch;
    }

    private int steps(int[] samples) {
        return options.dropLast() ? samples.length / options.batch() : Math.ceilDiv(samples.length, options.batch());
    }

    private void readOrder(long ofTurn, int ofEpoch) throws InterruptedException {
        int[] read = null;
        IOException why = null;
        boolean beyond = ofEpoch >= job.epochs();
        try {
            read = beyond ? null : orders.order(ofEpoch);
        } catch (IOException e) {
            why = e;
        }
        synchronized (this) {
            readingOrder = false;
            if (closed || turn != ofTurn) {
                notifyAll();
            } else if (beyond) {
                done = true;
                send(new ToTrainer.Done(turn, job.epochs()));
            } else if (why instanceof OrderLaterException) {
                ring.publish(why.getMessage() + ", which is not there yet");
                readingOrder = true; // by this thread, after a while
                long again = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LATER_MS);
                for (long leftMs = LATER_MS; leftMs > 0 && !closed && turn == ofTurn; ) {
                    wait(leftMs);
                    leftMs = TimeUnit.NANOSECONDS.toMillis(again - System.nanoTime());
                }
                readingOrder = false;
                notifyAll();
            } else if (read == null) {
                done = true;
                ending = why;
                if (why != null && !unsent.isEmpty()) { // which may take as long as the mount does not answer
                    ring.publish("samples that are still being read, and then: " + why.getMessage());
                }
                endBehindAllBatches();
            } else {
                ring.publish("");
                begin(read);
            }
        }
    }

    private void begin(int[] read) {
        int steps = steps(read);
        if (steps == 0 && ++emptyEpochs > MOST_EMPTY_EPOCHS) {
            done = true;
            ending = new FeedException(MOST_EMPTY_EPOCHS + " epochs in a row have no batch for this rank"
                    + (read.length == 0
                            ? ": their orders are empty"
                            : "; epoch " + epoch + " has " + read.length + " samples, fewer than a batch of "
                                    + options.batch() + ": give a smaller batch, or leave drop_last out"));
            endBehindAllBatches();
            return;
        }
        send(new ToTrainer.Epoch(turn, epoch, steps));
        if (step < steps) {
            order = read;
        } else { // an empty epoch, or one that was resumed at its end
            epoch++;
            step = 0;
        }
        notifyAll();
    }

    /** The sample is in its place, or failed for a reason. */
    synchronized void finish(Task task, @Nullable String reason) {
        Assembly batch = task.batch;
        batch.finish(task.at, reason);
        if (batch.isFinished()) {
            if (batch.turn == turn) {
                sendFinished();
            } else {
                release(batch.slot);
            }
        }
    }

    /** The figures go first: a trainer that has a batch may look at them at once. */
    private void sendFinished() {
        List<ToTrainer> messages = new ArrayList<>();
        for (Assembly batch = unsent.peek(); batch != null && batch.isFinished(); batch = unsent.peek()) {
            unsent.remove();
            isSent[batch.slot] = true; // a bad one, too: else any number could wait for a trainer that does not read
            messages.add(message(batch));
        }
        publish();
        messages.forEach(this::send);
        endBehindAllBatches();
    }

    private void endBehindAllBatches() {
        IOException why = ending;
        if (why != null && unsent.isEmpty() && !closed) {
            send(new ToTrainer.Failed(String.valueOf(why.getMessage())));
            isTold = !closed;
            fail(why);
        }
    }

    private ToTrainer message(Assembly batch) {
        String reason = batch.failure();
        if (reason == null) {
            figures.sent();
            return new ToTrainer.Batch(batch.slot, batch.turn, batch.epoch, batch.step, batch.count());
        }
        figures.failed();
        return new ToTrainer.BadBatch(batch.slot, batch.turn, batch.epoch, batch.step, reason);
    }

    private void publish() {
        int ready = 0;
        for (boolean sent : isSent) {
            ready += sent ? 1 : 0;
        }
        figures.publish(ring, ready, threads);
    }

    private void release(int slot) {
        free.add(slot);
        notifyAll();
    }

    /** The trainer gives a slot back. */
    synchronized void free(int slot) throws IOException {
        if (slot < 0 || slot >= isSent.length || !isSent[slot]) {
            throw new IOException("the trainer gave back slot " + slot + ", which it does not have");
        }
        isSent[slot] = false;
        release(slot);
        publish();
    }

    /** The trainer wants this batch next. */
    synchronized void seek(long newTurn, int newEpoch, int newStep) throws IOException {
        if (newTurn <= turn || newStep < 0) {
            throw new IOException("the trainer began turn " + newTurn + " after " + turn + " at step " + newStep);
        }
        turn = newTurn;
        epoch = newEpoch < 0 ? job.startEpoch() : newEpoch;
        step = newEpoch < 0 ? job.startStep(options.batch()) : newStep;
        order = null;
        done = false;
        emptyEpochs = 0;
        ending = null;
        current = null;
        for (Assembly batch : unsent) {
            batch.abandon();
            if (batch.isFinished()) {
                free.add(batch.slot);
            }
        }
        unsent.clear();
        notifyAll();
    }

    private void send(ToTrainer message) {
        try {
            trainer.send(message);
        } catch (IOException e) {
            fail(e);
        }
    }

    /** Ends the work for this trainer, because of {@code reason}; null for none. */
    synchronized void fail(@Nullable IOException reason) {
        if (!closed) {
            failure = reason;
        }
        closed = true;
        notifyAll();
    }

    /** Waits for nothing: why the work ended, or null. */
    synchronized @Nullable IOException failure() {
        return failure;
    }

    /** Whether the outlet was given, behind all batches, why the work ended. */
    synchronized boolean isTold() {
        return isTold;
    }
}
