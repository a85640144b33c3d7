package io.clairfs.tools.cli;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.IndexRule;
import io.clairfs.tools.ByteSize;
import io.clairfs.tools.daemon.Daemon;
import io.clairfs.tools.daemon.MachineMemory;
import io.clairfs.tools.daemon.MountCheck;
import io.clairfs.tools.daemon.MountConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Mounts a dataset, in a process of its own unless asked otherwise. */
@Command(name = "mount", mixinStandardHelpOptions = true, description = "Mounts a dataset; returns when it is ready.")
final class MountCommand implements Callable<Integer> {
    private static final long SMALLEST = 1 << 20;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "SOURCE", description = "The directory that holds the dataset.")
    @SuppressWarnings("NullAway.Init")
    private Path source;

    @Parameters(paramLabel = "MOUNTPOINT", description = "An empty directory where it is to be seen.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            description = "Memory for samples (default: a quarter of what is free).")
    private @Nullable ByteSize memory;

    @Option(
            names = "--staging",
            paramLabel = "SIZE",
            description = "Page cache ahead of the trainers (default: 1GiB, at most an eighth of what is free).")
    private @Nullable ByteSize staging;

    @Option(
            names = "--index-rule",
            paramLabel = "RULE",
            defaultValue = "imagefolder",
            description =
                    "How samples are numbered: imagefolder, timm, keras, hf-imagefolder, yolo, dali, sorted, manifest:FILE (default: ${DEFAULT-VALUE}).")
    private String indexRule = "imagefolder";

    @Option(
            names = "--loaders",
            paramLabel = "N",
            defaultValue = "16",
            description = "Samples fetched at once (default: ${DEFAULT-VALUE}).")
    private int loaders = 16;

    @Option(
            names = "--read-timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "How long a reader may wait for the source (default: ${DEFAULT-VALUE}).")
    private int readTimeout = 60;

    @Option(names = "-o", paramLabel = "OPTS", split = ",", description = "FUSE options, such as allow_other.")
    private List<String> options = new ArrayList<>();

    @Option(
            names = {"-f", "--foreground"},
            description = "Stay in the foreground.")
    private boolean foreground;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        MountConfig config = config();
        if (!foreground) {
            MountCheck.check(config.source(), config.mountPoint());
            BackgroundMount.start(spec.commandLine().getParseResult().originalArgs(), config);
            return Main.DONE;
        }
        Daemon daemon = Daemon.start(config);
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().name("shutdown").unstarted(daemon::close));
        daemon.ended().join();
        daemon.close();
        return Main.DONE;
    }

    private MountConfig config() {
        check(loaders >= 1 && loaders <= 1024, "--loaders must be 1 to 1024");
        check(readTimeout >= 1 && readTimeout <= 86_400, "--read-timeout must be 1 to 86400 seconds");
        try {
            IndexRule _ = IndexRule.of(indexRule);
        } catch (DatasetException e) {
            throw new ParameterException(spec.commandLine(), "--index-rule: " + e.getMessage(), e);
        }
        long free = MachineMemory.availableBytes();
        long memoryBytes = memory == null ? free / 4 : memory.bytes();
        long stagingBytes = staging == null ? Math.min(1L << 30, free / 8) : staging.bytes();
        check(stagingBytes >= SMALLEST, "--staging must be at least 1MiB");
        return new MountConfig(
                MountCheck.real(source),
                MountCheck.real(mountPoint),
                memoryBytes,
                stagingBytes,
                indexRule,
                loaders,
                16,
                readTimeout * 1000L,
                options);
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
