package io.clairfs.gpufeeder.feed;

import io.clairfs.gpufeeder.device.DeviceRing;
import io.clairfs.gpufeeder.ring.BatchRing;
import io.clairfs.gpufeeder.ring.ToTrainer;
import io.clairfs.gpufeeder.ring.TrainerConnection;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * Copies each batch to a device before the trainer hears of it. What is said between batches keeps its place.
 *
 * <p>One thread does it all, since a device's context belongs to a thread. While a batch is on its way, the next is begun.
 */
final class DeviceOutlet implements BatchQueue.Outlet, AutoCloseable {
    private static final int MOST_UNDER_WAY = 2;

    private final FeedOptions.OnDevice wanted;
    private final long seed;
    private final BatchRing ring;
    private final TrainerConnection trainer;
    private final FeedFigures figures;
    private final long batchBytes;
    private final BlockingQueue<ToTrainer> waiting = new LinkedBlockingQueue<>();
    private final Deque<Sending> underWay = new ArrayDeque<>();
    private final CompletableFuture<Void> opened = new CompletableFuture<>();
    private final CompletableFuture<IOException> failed = new CompletableFuture<>();
    private final Thread thread =
            Thread.ofPlatform().daemon().name("feed-device").unstarted(this::run);
    private long lastEndNs;

    /** A message, and when the copy of its batch was begun. */
    private record Sending(ToTrainer message, long begunNs) {}

    private DeviceOutlet(
            FeedOptions.OnDevice wanted, long seed, BatchRing ring, TrainerConnection trainer, FeedFigures figures) {
        this.wanted = wanted;
        this.seed = seed;
        this.ring = ring;
        this.trainer = trainer;
        this.figures = figures;
        batchBytes = ring.layout().slotBytes();
    }

    /**
     * Makes room for the slots on a device, and says in the ring where that is.
     *
     * @param seed of random flips on the device
     * @throws IOException where the device has no room, or cannot be used
     */
    static DeviceOutlet open(
            FeedOptions.OnDevice wanted, long seed, BatchRing ring, TrainerConnection trainer, FeedFigures figures)
            throws IOException, InterruptedException {
        DeviceOutlet outlet = new DeviceOutlet(wanted, seed, ring, trainer, figures);
        outlet.thread.start();
        try {
            outlet.opened.get();
        } catch (ExecutionException _) {
            throw outlet.failed.join();
        }
        return outlet;
    }

    /** What is to be done when a batch cannot be copied: nothing more will be sent. The memory is freed by {@link #close} alone. */
    void onFailure(Consumer<IOException> action) {
        CompletableFuture<Void> _ = failed.thenAccept(action);
    }

    Thread thread() {
        return thread;
    }

    @Override
    public void send(ToTrainer message) {
        waiting.add(message);
    }

    private void run() {
        try (DeviceRing slots =
                DeviceRing.open(wanted.device(), ring.layout(), ring::slot, wanted.conversion(), seed)) {
            ring.describeDevice(wanted.device().uuid(), slots.handle(), slots.layout());
            opened.complete(null);
            copy(slots);
            while (true) {
                ToTrainer _ = waiting.take(); // goes nowhere: the memory stays while the trainer may read what it has
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // closed
        } catch (IOException e) {
            failed(e);
        } catch (RuntimeException | Error e) {
            failed(bug(e));
        }
    }

    /** Copies until a copy fails. The failure is told before anything is freed. */
    private void copy(DeviceRing slots) throws InterruptedException {
        try {
            while (true) {
                if (underWay.isEmpty() || (underWay.size() < MOST_UNDER_WAY && !waiting.isEmpty())) {
                    begin(waiting.take(), slots);
                } else {
                    finish(underWay.remove(), slots);
                }
            }
        } catch (IOException e) {
            failed(e);
        } catch (RuntimeException | Error e) {
            failed(bug(e));
        }
    }

    private static FeedException bug(Throwable e) {
        return new FeedException("a bug of the feeder: " + e, e);
    }

    private void failed(IOException why) {
        failed.complete(why);
        opened.completeExceptionally(why);
    }

    private void begin(ToTrainer message, DeviceRing slots) throws IOException {
        if (message instanceof ToTrainer.Batch batch) {
            slots.begin(batch.slot(), batch.epoch(), batch.count());
        }
        underWay.add(new Sending(message, System.nanoTime()));
    }

    private void finish(Sending sending, DeviceRing slots) throws IOException {
        if (sending.message instanceof ToTrainer.Batch batch) {
            slots.finish(batch.slot());
            long now = System.nanoTime();
            figures.copied(batchBytes, now - Math.max(sending.begunNs, lastEndNs));
            lastEndNs = now;
        }
        trainer.send(sending.message);
    }

    /** Frees the device's memory: a trainer that still has it open must not read it any more. */
    @Override
    public void close() {
        thread.interrupt();
    }
}
