package io.clairfs.gpufeeder.feed;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.ring.BatchRing;
import io.clairfs.gpufeeder.ring.FromTrainer;
import io.clairfs.gpufeeder.ring.RingLayout;
import io.clairfs.gpufeeder.ring.ToTrainer;
import io.clairfs.gpufeeder.ring.TrainerConnection;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Feeds one rank of a job to one trainer after another. */
public final class Feeder {
    private static final long END_MS = 5_000;

    private final MountedJob job;
    private final JobSamples samples;
    private final Decoding decoding;
    private final FeedOptions options;
    private final FeedFigures figures = new FeedFigures();
    private final LongSupplier availableBytes;
    private final long endMs;
    private final byte[] root;

    /** {@code availableBytes} is the memory that this process may still take. */
    public Feeder(
            MountedJob job, JobSamples samples, Decoding decoding, FeedOptions options, LongSupplier availableBytes) {
        this(job, samples, decoding, options, availableBytes, END_MS);
    }

    /** The next trainer waits {@code endMs} at most for the threads of the one before. */
    Feeder(
            MountedJob job,
            JobSamples samples,
            Decoding decoding,
            FeedOptions options,
            LongSupplier availableBytes,
            long endMs) {
        this.job = job;
        this.samples = samples;
        this.decoding = decoding;
        this.options = options;
        this.availableBytes = availableBytes;
        this.endMs = endMs;
        root = job.mountPoint().toString().getBytes(UTF_8);
    }

    public FeedFigures figures() {
        return figures;
    }

    /** What the ring will be. */
    public RingLayout layout() {
        return new RingLayout(options.slots(), options.batch(), decoding.format());
    }

    /**
     * Feeds a trainer until it is gone. It gets a ring of its own, which is freed when both sides have let go of it.
     *
     * @throws IOException when there is nothing to feed, or the trainer cannot be served; it may not know why yet: {@link #tell} it
     */
    public void serve(TrainerConnection trainer) throws IOException, InterruptedException {
        try {
            requireRoom();
        } catch (FeedException e) {
            tell(trainer, e);
            throw e;
        }
        int epochs = job.epochs() == JobSpec.UNLIMITED ? -1 : job.epochs();
        BatchRing ring = BatchRing.make(layout(), job.startEpoch(), firstStep(), epochs);
        ring.describeOrigin(digest(job.keys()), digest(options.wording()));
        List<Thread> threads = new ArrayList<>();
        try (DeviceOutlet device = openDevice(ring, trainer)) {
            BatchQueue.Outlet outlet = device == null ? trainer::send : device;
            BatchQueue queue = new BatchQueue(job, samples::order, options, ring, outlet, figures);
            if (device != null) {
                threads.add(device.thread());
                device.onFailure(why -> deviceFailed(why, queue, trainer));
            }
            serve(trainer, ring, queue, threads);
        } finally {
            free(ring, threads);
        }
    }

    /** Nothing more is copied. What the queue had given the outlet last does not arrive either, so it is told here. */
    static void deviceFailed(IOException why, BatchQueue queue, TrainerConnection trainer) {
        queue.fail(why);
        if (queue.isTold()) {
            tell(trainer, why);
        }
    }

    /** Where the job begins. Where that is within a batch, who does not say where to begin is refused when he asks. */
    private int firstStep() {
        try {
            return job.startStep(options.batch());
        } catch (FeedException within) {
            return 0;
        }
    }

    /** Frees a ring when its threads have ended. One that waits for the mount may still write into it, and the next trainer does not wait for that one. */
    private void free(BatchRing ring, List<Thread> threads) throws InterruptedException {
        if (haveEnded(threads)) {
            ring.close();
        } else {
            Thread.ofPlatform().daemon().name("ring-closer").start(() -> freeAfter(threads, ring));
        }
    }

    private static void freeAfter(List<Thread> threads, BatchRing ring) {
        try {
            for (Thread thread : threads) {
                thread.join();
            }
            ring.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody does this
        }
    }

    private @Nullable DeviceOutlet openDevice(BatchRing ring, TrainerConnection trainer)
            throws IOException, InterruptedException {
        FeedOptions.OnDevice wanted = options.onDevice();
        if (wanted == null) {
            return null;
        }
        try {
            return DeviceOutlet.open(wanted, fnv(job.seed()), ring, trainer, figures);
        } catch (IOException e) {
            tell(trainer, e);
            throw e;
        }
    }

    private void serve(TrainerConnection trainer, BatchRing ring, BatchQueue queue, List<Thread> threads)
            throws IOException {
        try (FeedReporter _ = FeedReporter.start(
                job.control("report"), () -> figures.line(job.name(), job.rank(), options.slots()))) {
            trainer.send(ring);
            for (int number = 0; number < options.threads(); number++) {
                int thread = number;
                threads.add(Thread.ofPlatform()
                        .name("feed-load-" + number)
                        .daemon()
                        .start(() -> load(thread, queue, ring, trainer)));
            }
            answer(trainer, queue);
        } finally {
            queue.fail(null);
        }
        IOException failure = queue.failure();
        if (failure != null) {
            throw failure;
        }
    }

    /** More than there is would be given, and processes killed for it. */
    private void requireRoom() throws FeedException {
        long bytes = layout().bytes();
        long available = availableBytes.getAsLong();
        if (bytes > available) {
            throw new FeedException("a ring of " + options.slots() + " batches of " + options.batch() + " samples of "
                    + decoding.format().bytes() + " bytes takes " + bytes + " bytes, and " + available
                    + " are available: take fewer slots or smaller batches");
        }
    }

    private void answer(TrainerConnection trainer, BatchQueue queue) throws IOException {
        for (FromTrainer message = trainer.receive(); message != null; message = trainer.receive()) {
            switch (message) {
                case FromTrainer.Seek(long turn, int epoch, int step) -> queue.seek(turn, epoch, step);
                case FromTrainer.Free(int slot, long waitedNs) -> {
                    figures.waited(waitedNs);
                    queue.free(slot);
                }
            }
        }
    }

    private boolean haveEnded(List<Thread> threads) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(endMs);
        for (Thread thread : threads) {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
        }
        return threads.stream().noneMatch(Thread::isAlive);
    }

    private void load(int thread, BatchQueue queue, BatchRing ring, TrainerConnection trainer) {
        try (SampleLoad load = new SampleLoad(root, decoding, figures)) {
            for (BatchQueue.Task task = queue.take(thread); task != null; task = queue.take(thread)) {
                queue.finish(task, load(task, load, ring));
            }
        } catch (InterruptedException e) {
            queue.fail(new FeedException("the feeder was interrupted", e));
        } catch (RuntimeException | Error e) {
            queue.fail(new FeedException("a bug of the feeder: " + e, e));
        }
        IOException failure = queue.failure();
        if (failure != null && thread == 0 && !queue.isTold()) {
            tell(trainer, failure);
        }
    }

    /** Loads a sample. Returns why it could not, or null. */
    private @Nullable String load(BatchQueue.Task task, SampleLoad load, BatchRing ring) {
        Assembly batch = task.batch();
        int sample = batch.sample(task.at());
        byte[] path = samples.path(sample);
        try {
            load.load(path, key(job.seed(), batch.epoch, sample), ring.sample(batch.slot, task.at()));
            ring.describe(batch.slot, task.at(), samples.label(sample), sample);
            return null;
        } catch (IOException e) {
            return "sample " + sample + " (" + job.shown(path) + "): " + e.getMessage();
        } catch (OutOfMemoryError e) {
            return "sample " + sample + " (" + job.shown(path) + "): too little memory to decode it (" + e.getMessage()
                    + "): use fewer --threads, or set JDK_JAVA_OPTIONS=-Xmx4g";
        }
    }

    /** Says to the trainer why it will get nothing more. */
    public static void tell(TrainerConnection trainer, IOException failure) {
        try {
            trainer.send(new ToTrainer.Failed(String.valueOf(failure.getMessage())));
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    /** Of a sample in an epoch: the same in every run with this seed, and far from those of its neighbours (the finalizer of SplitMix64). */
    static long key(String seed, int epoch, int sample) {
        long mixed = (fnv(seed) ^ ((long) epoch << 32 | sample)) * 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ mixed >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return mixed ^ mixed >>> 31;
    }

    /** Of a text of which a trainer learns only whether another is the same. Never zero, which says nothing. */
    private static long digest(String text) {
        long digest = fnv(text);
        return digest == 0 ? 1 : digest;
    }

    /** FNV-1a, of a seed as it is written: some are longer than 64 bits. */
    private static long fnv(String text) {
        long hash = 0xcbf29ce484222325L;
        for (byte each : text.getBytes(UTF_8)) {
            hash = (hash ^ (each & 0xff)) * 0x100000001b3L;
        }
        return hash;
    }
}
