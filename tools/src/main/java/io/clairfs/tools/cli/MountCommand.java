package io.clairfs.tools.cli;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.IndexRule;
import io.clairfs.cache.plan.PlacementPolicy;
import io.clairfs.cache.prefetch.PrefetchSettings;
import io.clairfs.peer.Secret;
import io.clairfs.tools.ByteSize;
import io.clairfs.tools.config.ConfigFile;
import io.clairfs.tools.config.MountFile;
import io.clairfs.tools.daemon.Daemon;
import io.clairfs.tools.daemon.GroupConfig;
import io.clairfs.tools.daemon.MachineMemory;
import io.clairfs.tools.daemon.MountCheck;
import io.clairfs.tools.daemon.MountConfig;
import io.clairfs.tools.daemon.SsdConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Mounts a dataset, in a process of its own unless asked otherwise. */
@Command(name = "mount", mixinStandardHelpOptions = true, description = "Mounts a dataset; returns when it is ready.")
final class MountCommand implements Callable<Integer> {
    private static final long SMALLEST = 1 << 20;
    private static final String DEFAULT_PORT = "5701";

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
            names = "--ssd",
            paramLabel = "DIR:SIZE",
            description =
                    "A directory on a local disk for samples, and how much of it; may be repeated, fastest first.")
    private List<String> ssds = new ArrayList<>();

    @Option(
            names = "--ssd-reserve",
            paramLabel = "SIZE",
            description = "What stays free for others on the disks of --ssd (default: 1GiB).")
    private @Nullable ByteSize ssdReserve;

    @Option(
            names = "--staging",
            paramLabel = "SIZE",
            description = "Page cache ahead of the trainers (default: 1GiB, at most an eighth of what is free).")
    private @Nullable ByteSize staging;

    @Option(
            names = "--index-rule",
            paramLabel = "RULE",
            description =
                    "How samples are numbered: imagefolder, timm, keras, hf-imagefolder, yolo, dali, sorted, manifest:FILE (default: imagefolder).")
    private @Nullable String indexRule;

    @Option(
            names = "--policy",
            paramLabel = "POLICY",
            description = "What is kept where: clairfs, nopfs, lobster (default: clairfs).")
    private @Nullable String policy;

    @Option(
            names = "--loader-sharing",
            paramLabel = "HOW",
            description =
                    "How loaders are shared out to the ranks: balanced by predicted load, or fixed (default: balanced).")
    private @Nullable String loaderSharing;

    @Option(
            names = "--loaders",
            paramLabel = "N",
            description = "Samples fetched at once for staging, and for each tier (default: 16).")
    private @Nullable Integer loaders;

    @Option(
            names = "--read-timeout",
            paramLabel = "SECONDS",
            description = "How long a reader may wait for the source (default: 60).")
    private @Nullable Integer readTimeout;

    @Option(
            names = "--members",
            paramLabel = "HOST[:PORT]",
            split = ",",
            description = "Nodes to share caches with; where the first of them is, the others find each other.")
    private List<String> members = new ArrayList<>();

    @Option(
            names = "--bind",
            paramLabel = "ADDRESS[:PORT]",
            description = "Where this node is in the group (port 5701 if not said); samples are lent on the next port.")
    private @Nullable String bind;

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description = "A file with at least 16 bytes that all nodes of the group have; needed beyond loopback.")
    private @Nullable Path secretFile;

    @Option(
            names = "--node-name",
            paramLabel = "NAME",
            description = "This node's name in the group (default: the address and port of --bind).")
    private @Nullable String nodeName;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "YAML with these options (mount:) and what 'clairfs calibrate' measured (model:).")
    private @Nullable Path configFile;

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

    /** What the command line says goes before what the file says, and that before the defaults. */
    private MountConfig config() throws IOException {
        ConfigFile file = configFile == null ? new ConfigFile(null, null) : ConfigFile.read(configFile);
        MountFile said = file.mountOrEmpty();
        int fetches = first(loaders, said.loaders(), 16);
        int seconds = first(readTimeout, said.readTimeout(), 60);
        check(fetches >= 1 && fetches <= 1024, "--loaders must be 1 to 1024");
        check(seconds >= 1 && seconds <= 86_400, "--read-timeout must be 1 to 86400 seconds");
        String rule = first(indexRule, said.indexRule(), "imagefolder");
        try {
            IndexRule _ = IndexRule.of(rule);
        } catch (DatasetException e) {
            throw new ParameterException(spec.commandLine(), "--index-rule: " + e.getMessage(), e);
        }
        long free = MachineMemory.availableBytes();
        ByteSize stagingSize =
                first(staging, size("staging", said.staging()), new ByteSize(Math.min(1L << 30, free / 8)));
        check(stagingSize.bytes() >= SMALLEST, "--staging must be at least 1MiB");
        return new MountConfig(
                MountCheck.real(source),
                MountCheck.real(mountPoint),
                first(memory, size("memory", said.memory()), new ByteSize(free / 4))
                        .bytes(),
                ssdConfigs(ssds.isEmpty() && said.ssd() != null ? said.ssd() : ssds),
                first(ssdReserve, size("ssd-reserve", said.ssdReserve()), new ByteSize(1 << 30))
                        .bytes(),
                stagingSize.bytes(),
                rule,
                oneOf("--policy", first(policy, said.policy(), "clairfs"), PlacementPolicy.values()),
                file.modelOrUnmeasured(),
                fetches,
                oneOf(
                        "--loader-sharing",
                        first(loaderSharing, said.loaderSharing(), "balanced"),
                        PrefetchSettings.Sharing.values()),
                groupConfig(),
                16,
                seconds * 1000L,
                options);
    }

    private static <T> T first(@Nullable T onCommandLine, @Nullable T inFile, T otherwise) {
        return onCommandLine != null ? onCommandLine : inFile != null ? inFile : otherwise;
    }

    private @Nullable ByteSize size(String key, @Nullable String text) {
        try {
            return text == null ? null : ByteSize.parse(text);
        } catch (TypeConversionException e) {
            throw new ParameterException(spec.commandLine(), configFile + ": " + key + ": " + e.getMessage(), e);
        }
    }

    private List<SsdConfig> ssdConfigs(List<String> texts) {
        List<SsdConfig> configs = new ArrayList<>();
        for (String text : texts) {
            int colon = text.lastIndexOf(':');
            check(colon > 0, "--ssd '" + text + "' must be DIR:SIZE, such as /local/clairfs:200GB");
            ByteSize size;
            try {
                size = ByteSize.parse(text.substring(colon + 1));
            } catch (TypeConversionException e) {
                throw new ParameterException(spec.commandLine(), "--ssd '" + text + "': " + e.getMessage(), e);
            }
            check(size.bytes() >= SMALLEST, "--ssd '" + text + "' must be at least 1MiB");
            Path directory = Path.of(text.substring(0, colon)).toAbsolutePath().normalize();
            check(
                    configs.stream().noneMatch(c -> c.directory().equals(directory)),
                    "--ssd names " + directory + " twice");
            configs.add(new SsdConfig(directory, size.bytes()));
        }
        return configs;
    }

    private @Nullable GroupConfig groupConfig() throws IOException {
        if (bind == null) {
            check(members.isEmpty() && secretFile == null && nodeName == null, "a group of nodes needs --bind");
            return null;
        }
        int colon = bind.lastIndexOf(':');
        String host = colon < 0 ? bind : bind.substring(0, colon);
        String port = colon < 0 ? DEFAULT_PORT : bind.substring(colon + 1);
        check(
                port.matches("[0-9]{1,5}") && Integer.parseInt(port) >= 1 && Integer.parseInt(port) < 65_535,
                "--bind '" + bind + "' must be ADDRESS or ADDRESS:PORT");
        InetSocketAddress address = new InetSocketAddress(host, Integer.parseInt(port));
        check(
                !address.isUnresolved() && !address.getAddress().isAnyLocalAddress(),
                "--bind '" + bind + "' must be one address of this machine");
        check(
                secretFile != null || address.getAddress().isLoopbackAddress(),
                "beyond loopback a group needs --secret-file, so that no stranger joins it");
        if (secretFile != null) {
            Secret _ = Secret.read(secretFile); // what is wrong with it is said now
        }
        return new GroupConfig(nodeName == null ? host + ":" + port : nodeName, address, members, secretFile);
    }

    private <E extends Enum<E>> E oneOf(String option, String text, E[] values) {
        for (E value : values) {
            if (value.name().toLowerCase(Locale.ROOT).equals(text)) {
                return value;
            }
        }
        String names = Arrays.stream(values)
                .map(v -> v.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
        throw new ParameterException(spec.commandLine(), option + " '" + text + "' is none of " + names);
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
