package io.clairfs.tools.demo;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import io.clairfs.tools.Progress;
import io.clairfs.tools.scratch.Scratch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Trains directly on a slow source and then through clairfs on the same source, and compares.
 *
 * <p>The slow source is mounted in this process; the mount and the trainer are processes of their own, as they are for a user. Everything
 * is in one directory, which is removed at the end, also after a failure or a signal.
 */
public final class Demo {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final long ROOM_PER_FILE = 136 * 1024;
    private static final long MIB = 1 << 20;
    private static final long COUNTED_WITHIN_NS = TimeUnit.SECONDS.toNanos(15);
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final DemoSpec spec;
    private final List<String> clairfs;
    private final Python python;
    private final Scratch scratch;

    private Demo(DemoSpec spec, List<String> clairfs, Python python, Scratch scratch) {
        this.spec = spec;
        this.clairfs = clairfs;
        this.python = python;
        this.scratch = scratch;
    }

    /**
     * Runs the whole demonstration.
     *
     * @param plain whether plain Python trains even where there is PyTorch
     * @param clairfs the words that run the command {@code clairfs}
     * @throws IOException with the reason in one line, if a part of the demonstration fails
     */
    public static DemoReport run(DemoSpec spec, boolean plain, List<String> clairfs) throws IOException {
        String parent = Optional.ofNullable(System.getenv("TMPDIR"))
                .filter(directory -> !directory.isEmpty())
                .orElse(System.getProperty("java.io.tmpdir"));
        return run(spec, clairfs, plain ? Python.plain() : Python.find(), Path.of(parent));
    }

    static DemoReport run(DemoSpec spec, List<String> clairfs, Python python, Path parent) throws IOException {
        Scratch scratch = Scratch.create(parent, spec.keep());
        try (scratch) {
            return new Demo(spec, clairfs, python, scratch).compare();
        } catch (IOException e) {
            throw scratch.isInterrupted() ? new DemoException("interrupted") : e;
        }
    }

    private DemoReport compare() throws IOException {
        requireRoom();
        if (spec.fed() && !python.torch()) {
            throw new DemoException(
                    "the feeder is compared with PyTorch, which is not there; on Debian: apt-get install python3-torch python3-torchvision");
        }
        Path dataset = scratch.subdirectory("dataset");
        Content content;
        try (Progress progress = Progress.begin("making " + spec.files() + " JPEG files", spec.files())) {
            content = DemoDataset.make(dataset, spec.files(), DemoSpec.SEED, progress::at);
        }
        SlowSourceSpec slowness = new SlowSourceSpec(spec.bytesPerSecond(), spec.openLatency());
        Trainer trainer = new Trainer(python, scratch, clairfs);
        // Removing the scratch directory ends this mount, too.
        SlowMount source = SlowMount.mount(dataset, scratch.subdirectory("source"), slowness);
        TrainingRecord direct =
                train(trainer, "training on the source", source, source.point(), Trainer.Batches.LOADED);
        DemoMount mount = DemoMount.mount(clairfs, scratch, "mount", source.point(), content.bytes(), spec);
        TrainingRecord mounted =
                train(trainer, "training through clairfs", source, mount.point(), Trainer.Batches.LOADED);
        JsonNode status = statusOnceCounted(mount, content.samples() * spec.epochs());
        mount.unmount();
        TrainingRecord fed = null;
        if (spec.fed()) { // a mount of its own, which begins with nothing as the first one did
            DemoMount again = DemoMount.mount(clairfs, scratch, "fed", source.point(), content.bytes(), spec);
            fed = train(trainer, "training with the feeder", source, again.point(), Trainer.Batches.FED);
            again.unmount();
        }
        return report(content, direct, mounted, fed, status);
    }

    /** The status when that many reads are counted: the mount hears of each close a little later, and of some never where the kernel loses reports. */
    private static JsonNode statusOnceCounted(DemoMount mount, long reads) throws IOException {
        long start = System.nanoTime();
        JsonNode status = mount.status();
        while (status.at("/reads/opened").asLong() < reads && System.nanoTime() - start < COUNTED_WITHIN_NS) {
            LockSupport.parkNanos(LOOK_NS);
            status = mount.status();
        }
        return status;
    }

    private void requireRoom() throws IOException {
        long needed = spec.files() * ROOM_PER_FILE * (100 + spec.ssdPercent()) / 100;
        long free = Files.getFileStore(scratch.directory()).getUsableSpace();
        if (free < needed) {
            throw new DemoException("the dataset needs " + needed / MIB + " MiB, but "
                    + scratch.directory().getParent() + " has " + free / MIB
                    + " MiB free: set TMPDIR to a directory with room, or make it smaller with --files");
        }
    }

    private TrainingRecord train(Trainer trainer, String what, SlowMount source, Path root, Trainer.Batches batches)
            throws IOException {
        try (Progress progress = Progress.begin(what, (long) spec.epochs() * spec.batches())) {
            TrainingRecord record = new TrainingRecord(source::counted, progress, spec.batches());
            trainer.train(root, spec, batches, record);
            return record;
        }
    }

    private DemoReport report(
            Content content,
            TrainingRecord direct,
            TrainingRecord mounted,
            @Nullable TrainingRecord fed,
            JsonNode status) {
        Content expected = spec.fed() ? direct.first() : content;
        double ideal = seconds(spec.idealEpoch());
        JsonNode reads = status.path("reads");
        JsonNode job = status.path("jobs").path(0);
        long upcalls = reads.path("upcalls").asLong();
        return new DemoReport(
                python.title(),
                spec.workers(),
                DemoSpec.BATCH,
                seconds(spec.compute()),
                content.samples(),
                content.bytes(),
                spec.bytesPerSecond(),
                seconds(spec.openLatency()),
                ideal,
                Math.max(ideal, (double) content.bytes() / spec.bytesPerSecond()),
                direct.epochs(),
                mounted.epochs(),
                fed == null ? null : fed.epochs(),
                direct.seconds() / mounted.seconds(),
                fed == null ? null : mounted.seconds() / fed.seconds(),
                reads.path("opened").asLong(),
                upcalls,
                (double) upcalls / (content.samples() * spec.epochs()),
                spec.told(),
                status.at("/find_seed/found").asString(null),
                job.path("in_sync").asBoolean(),
                job.path("deviations").asLong(),
                expected.samples() == content.samples()
                        && direct.isEachOf(spec.epochs(), expected)
                        && mounted.isEachOf(spec.epochs(), expected)
                        && (fed == null || fed.isEachOf(spec.epochs(), expected)));
    }

    private static double seconds(Duration time) {
        return time.toNanos() / NANOS_PER_SECOND;
    }
}
