package io.clairfs.tools.cli;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.device.Conversion;
import io.clairfs.gpufeeder.device.DeviceProbe;
import io.clairfs.gpufeeder.feed.FeedOptions;
import io.clairfs.gpufeeder.feed.Feeder;
import io.clairfs.gpufeeder.feed.JobSamples;
import io.clairfs.gpufeeder.feed.JobWatch;
import io.clairfs.gpufeeder.feed.MountedJob;
import io.clairfs.gpufeeder.ring.FeedAddress;
import io.clairfs.gpufeeder.ring.RingLayout;
import io.clairfs.gpufeeder.ring.TrainerConnection;
import io.clairfs.tools.node.limits.MachineMemory;
import io.clairfs.tools.node.mount.MountCheck;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs a feeder in this process: for the trainer that started it, or for one trainer after another until the job ends. */
@Command(
        name = "feed",
        mixinStandardHelpOptions = true,
        description = {
            "Assembles the batches of one rank of a job in shared memory, ready before the trainer asks.",
            "The trainer reads them by clairfs_feed.py; see docs/FEEDER.md."
        })
final class FeedCommand implements Callable<Integer> {
    private static final long LISTING_PATIENCE_MS = 60_000;
    private static final int LOOK_MS = 1_000;
    private static final int NOT_CONNECTED = -1;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "MOUNTPOINT", description = "The mount point, or any path below it.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Option(names = "--job", paramLabel = "NAME", defaultValue = "train", description = "Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init")
    private String name;

    @Option(
            names = "--rank",
            paramLabel = "R",
            description = "Counted from 0; default: $RANK, or 0 where it is not set.")
    private @Nullable Integer rank;

    @Option(names = "--batch", paramLabel = "N", description = "Samples of a batch; default: that of the job.")
    private @Nullable Integer batch;

    @Option(
            names = "--decode",
            paramLabel = "SPEC",
            required = true,
            description = "What becomes of a file, such as raw,dtype=float32,shape=3x224x224.")
    @SuppressWarnings("NullAway.Init")
    private String decode;

    @Option(names = "--slots", paramLabel = "K", defaultValue = "4", description = "Batches in the ring; default: 4.")
    private int slots;

    @Option(names = "--threads", paramLabel = "T", description = "That read and decode; default: one per processor.")
    private @Nullable Integer threads;

    @Option(names = "--drop-last", description = "Leave out the incomplete batch at the end of an epoch.")
    private boolean dropLast;

    @Option(
            names = "--labels",
            paramLabel = "FROM",
            description = "directories (default): as image folders number their classes; none; or a file with a number"
                    + " for each sample.")
    private @Nullable String labels;

    @Option(
            names = "--device",
            paramLabel = "GPU",
            description = "A GPU that gets a copy of each batch: cuda, cuda:N, or GPU-UUID as nvidia-smi -L prints it;"
                    + " default: none, the trainer copies.")
    private @Nullable String device;

    @Option(
            names = "--on-device",
            paramLabel = "SPEC",
            description = "What becomes of images of uint8 on the GPU, such as"
                    + " dtype=float16,mean=0.485:0.456:0.406,std=0.229:0.224:0.225,flip=random; default: nothing.")
    private @Nullable String onDevice;

    @Option(
            names = "--connected",
            paramLabel = "FD",
            defaultValue = "-1",
            hidden = true,
            description = "The socket of the trainer that started this.")
    private int connected;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        check(
                slots >= RingLayout.FEWEST_SLOTS && slots <= RingLayout.MOST_SLOTS,
                "--slots must be " + RingLayout.FEWEST_SLOTS + " to " + RingLayout.MOST_SLOTS);
        check(threads == null || threads > 0, "--threads must be positive");
        check(batch == null || batch > 0, "--batch must be positive");
        check(onDevice == null || device != null, "--on-device needs --device: it is about batches on a GPU");
        if (connected == NOT_CONNECTED) {
            return serveAll();
        }
        try (TrainerConnection trainer = TrainerConnection.of(connected)) {
            try {
                Feeder feeder = feeder(job());
                feeder.serve(trainer);
                System.err.println("clairfs: " + feeder.figures().text());
                return Main.DONE;
            } catch (IOException e) {
                Feeder.tell(trainer, e);
                throw e;
            } catch (CommandFailedException e) {
                Feeder.tell(trainer, new IOException(e.getMessage()));
                throw e;
            }
        }
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }

    /** As clairfs_feed.py has it. What the environment says is of no interest where a rank is given. */
    private int rank() {
        if (rank != null) {
            return rank;
        }
        String ofEnvironment = System.getenv("RANK");
        try {
            return ofEnvironment == null ? 0 : Integer.parseInt(ofEnvironment);
        } catch (NumberFormatException _) {
            throw new ParameterException(
                    spec.commandLine(),
                    "RANK is '" + ofEnvironment + "' in the environment, which is no number: give --rank R");
        }
    }

    private MountedJob job() throws IOException, CommandFailedException, InterruptedException {
        return MountedJob.find(MountCheck.real(new ControlClient(mountPoint).root()), name, rank());
    }

    private Feeder feeder(MountedJob job) throws IOException, CommandFailedException, InterruptedException {
        int size = batch == null ? job.batch() : batch;
        if (size == 0) {
            throw new CommandFailedException("how many samples has a batch? give --batch N; the line of the job '"
                    + job.name() + "' has no batch=");
        }
        FeedOptions.Labels from = FeedOptions.Labels.parse(labels);
        JobSamples samples = JobSamples.read(job, from, LISTING_PATIENCE_MS);
        Decoding decoding = DecodeChoice.of(decode, samples.example());
        int all = threads == null ? Runtime.getRuntime().availableProcessors() : threads;
        return new Feeder(
                job,
                samples,
                decoding,
                new FeedOptions(size, dropLast, slots, all, from, onDevice(decoding, size), asked()),
                () -> MachineMemory.now().availableBytes());
    }

    private String asked() {
        return onDevice == null ? decode : decode + " " + onDevice;
    }

    private FeedOptions.@Nullable OnDevice onDevice(Decoding decoding, int size)
            throws IOException, CommandFailedException {
        if (device == null) {
            return null;
        }
        if (onDevice == null) {
            return new FeedOptions.OnDevice(DeviceProbe.find(device), null);
        }
        try {
            Conversion conversion = Conversion.parse(onDevice);
            if (conversion.flip() && DecodeChoice.mirrors(decode)) {
                throw new CommandFailedException("flip=random of --decode and of --on-device mirror the same samples,"
                        + " which is to mirror none: leave one of them out");
            }
            conversion.requireFits(decoding.format(), size);
            return new FeedOptions.OnDevice(DeviceProbe.find(device), conversion);
        } catch (InvalidSpecException e) {
            throw new CommandFailedException("--on-device " + onDevice + ": " + e.getMessage());
        }
    }

    /** A job, and what feeds it. */
    private record Feeding(MountedJob job, Feeder feeder) {}

    private Feeding feeding() throws IOException, CommandFailedException, InterruptedException {
        MountedJob job = job();
        return new Feeding(job, feeder(job));
    }

    /** One trainer after another, until the job is gone. */
    private int serveAll() throws IOException, CommandFailedException, InterruptedException {
        Feeding feeding = feeding();
        MountedJob job = feeding.job();
        try (FeedAddress address = FeedAddress.listen(job.mountPoint().toString(), job.name(), job.rank())) {
            System.err.println("clairfs: feeds rank " + job.rank() + " of the job '" + job.name() + "' at "
                    + job.mountPoint() + " through a ring of "
                    + feeding.feeder().layout().bytes() / 1_000_000
                    + " MB" + (device == null ? "" : ", on " + device + " too") + "; waits for Feed(\""
                    + job.mountPoint()
                    + "\", job=\"" + job.name() + "\", command=None" + (device == null ? "" : ", device=...") + ")");
            JobWatch watch = new JobWatch(job);
            do {
                feeding = serveNext(address, feeding);
            } while (watch.goesOn());
        }
        System.err.println("clairfs: " + feeding.feeder().figures().text());
        return Main.DONE;
    }

    private static boolean isReplaced(MountedJob job) {
        try {
            return job.isReplaced();
        } catch (IOException restarting) {
            return false; // looked at again before an order is fed
        }
    }

    /** Returns what feeds the trainer after this one: the same, unless another job has taken the place of its own. */
    private Feeding serveNext(FeedAddress address, Feeding before) throws InterruptedException {
        Feeding now = before;
        try (TrainerConnection trainer = address.accept(LOOK_MS)) {
            if (trainer != null) {
                now = upToDate(before, trainer);
                serve(trainer, now.feeder());
            }
        } catch (IOException e) {
            System.err.println("clairfs: " + e.getMessage()); // the next trainer may do better
        }
        return now;
    }

    /** Looks when the trainer is there: it may have come right behind a new job. One that cannot be fed is told why. */
    private Feeding upToDate(Feeding before, TrainerConnection trainer) throws IOException, InterruptedException {
        if (!isReplaced(before.job())) {
            return before;
        }
        try {
            Feeding now = feeding();
            System.err.println("clairfs: the job '" + now.job().name() + "' was replaced; feeds the new one");
            return now;
        } catch (IOException e) {
            Feeder.tell(trainer, e);
            throw e;
        } catch (CommandFailedException e) {
            IOException why = new IOException(e.getMessage(), e);
            Feeder.tell(trainer, why);
            throw why;
        }
    }

    /** Serves a trainer. One that cannot be served is told why, while its connection is still there. */
    private static void serve(TrainerConnection trainer, Feeder feeder) throws IOException, InterruptedException {
        try {
            feeder.serve(trainer);
        } catch (IOException e) {
            Feeder.tell(trainer, e);
            throw e;
        }
    }
}
