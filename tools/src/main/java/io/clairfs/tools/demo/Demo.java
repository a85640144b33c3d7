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
        Path dataset = scratch.subdirectory("dataset");
        Content content;
        try (Progress progress = Progress.begin("making " + spec.files() + " JPEG files", spec.files())) {
            content = DemoDataset.make(dataset, spec.files(), DemoSpec.SEED, progress::at);
        }
        SlowSourceSpec slowness = new SlowSourceSpec(spec.bytesPerSecond(), spec.openLatency());
        Trainer trainer = new Trainer(python, scratch);
        // Removing the scratch directory ends this mount, too.
        SlowMount source = SlowMount.mount(dataset, scratch.subdirectory("source"), slowness);
        TrainingRecord direct = train(trainer, "training on the source", source, source.point());
        DemoMount mount = DemoMount.mount(clairfs, scratch, source.point(), content.bytes(), spec);
        TrainingRecord mounted = train(trainer, "training through clairfs", source, mount.point());
        JsonNode status = mount.status();
        mount.unmount();
        return report(content, direct, mounted, status);
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

    private TrainingRecord train(Trainer trainer, String what, SlowMount source, Path root) throws IOException {
        try (Progress progress = Progress.begin(what, (long) spec.epochs() * spec.batches())) {
            TrainingRecord record = new TrainingRecord(source::counted, progress, spec.batches());
            trainer.train(root, spec, record);
            return record;
        }
    }

    private DemoReport report(Content content, TrainingRecord direct, TrainingRecord mounted, JsonNode status) {
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
                direct.seconds() / mounted.seconds(),
                reads.path("opened").asLong(),
                upcalls,
                (double) upcalls / (content.samples() * spec.epochs()),
                spec.told(),
                status.at("/find_seed/found").asString(null),
                job.path("in_sync").asBoolean(),
                job.path("deviations").asLong(),
                direct.isEachOf(spec.epochs(), content) && mounted.isEachOf(spec.epochs(), content));
    }

    private static double seconds(Duration time) {
        return time.toNanos() / NANOS_PER_SECOND;
    }
}
