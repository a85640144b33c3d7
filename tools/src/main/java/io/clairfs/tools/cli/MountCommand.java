package io.clairfs.tools.cli;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.prefetch.PrefetchSettings;
import io.clairfs.fs.mount.FuseSession;
import io.clairfs.gpufeeder.view.ViewSpec;
import io.clairfs.tools.config.ConfigFile;
import io.clairfs.tools.config.MountFile;
import io.clairfs.tools.node.MountLog;
import io.clairfs.tools.node.config.GroupConfig;
import io.clairfs.tools.node.config.IndexCache;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.config.MountSizes;
import io.clairfs.tools.node.config.SsdConfig;
import io.clairfs.tools.node.config.ViewCache;
import io.clairfs.tools.node.mount.MountCheck;
import io.clairfs.tools.node.mount.SourceProbe;
import io.clairfs.tools.node.restart.RestartDirectory;
import io.clairfs.tools.node.restart.SavedMount;
import io.clairfs.tools.node.restart.Takeover;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Mounts a dataset, by default in a process of its own. */
@Command(name = "mount", mixinStandardHelpOptions = true, description = "Mounts a dataset; returns when it is ready.")
final class MountCommand implements Callable<Integer> {
    private enum OnOff {
        ON,
        OFF
    }

    /** The names of the appenders in the configuration of the log. */
    private enum LogFormat {
        TEXT,
        JSON
    }

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "SOURCE", description = "The directory that holds the dataset.")
    @SuppressWarnings("NullAway.Init")
    private Path source;

    @Parameters(paramLabel = "MOUNTPOINT", description = "An empty directory.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Option(
            names = "--view",
            paramLabel = "VIEW",
            description =
                    "What the files show: raw, decode[,shorter=N] (images as PPM), npy[:SPEC] (images as arrays) (default: raw).")
    private @Nullable String view;

    @Option(
            names = "--view-cache",
            paramLabel = "FORM",
            description =
                    "What memory and disks hold in a view: made (what is shown), raw (the source's files, made when staged), auto (default: made).")
    private @Nullable String viewCache;

    @Mixin
    private StorageOptions storage = new StorageOptions();

    @Option(
            names = "--index-rule",
            paramLabel = "RULE",
            description =
                    "How samples are numbered: imagefolder, timm, keras, keras-follow-links, hf-imagefolder, yolo, dali, sorted, manifest:FILE (default: imagefolder).")
    private @Nullable String indexRule;

    @Option(
            names = "--policy",
            paramLabel = "POLICY",
            description = "Placement policy: clairfs, nopfs, lobster (default: clairfs).")
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
            description = "Concurrent fetches for staging, and for each tier (default: 16).")
    private @Nullable Integer loaders;

    @Option(
            names = "--find-seed",
            paramLabel = "on|off",
            description =
                    "Whether to search for the seed of a trainer that no job describes, by its first reads (default: on).")
    private @Nullable String findSeed;

    @Option(
            names = "--read-timeout",
            paramLabel = "SECONDS",
            description = "Longest wait of a reader for the source, seconds (default: 60).")
    private @Nullable Integer readTimeout;

    @Option(
            names = "--index-cache",
            paramLabel = "DIR",
            description =
                    "Where the listing of a large source is kept for the next mount, or none (default: your cache).")
    private @Nullable String indexCache;

    @Option(names = "--trust-index", description = "Use the saved listing without checking the source's directories.")
    private boolean trustIndex;

    @Option(
            names = "--metrics",
            paramLabel = "ADDRESS:PORT",
            description = "Serves the metrics over HTTP there, for Prometheus; they are in .clairfs/metrics, too.")
    private @Nullable String metrics;

    @Option(
            names = "--log-format",
            paramLabel = "FORMAT",
            description = "Lines of the log: text, or json (default: text).")
    private @Nullable String logFormat;

    @Mixin
    private GroupOptions group = new GroupOptions();

    @Mixin
    private RestartOptions restart = new RestartOptions();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "YAML with these options (mount:) and the output of 'clairfs calibrate' (model:).")
    private @Nullable Path configFile;

    @Option(
            names = "-o",
            paramLabel = "OPTS",
            split = ",",
            description = "Mount options: allow_other, noexec, noatime.")
    private List<String> options = new ArrayList<>();

    @Option(
            names = {"-f", "--foreground"},
            description = "Stay in the foreground.")
    private boolean foreground;

    @Option(
            names = "--launcher-log",
            paramLabel = "FILE",
            hidden = true,
            description =
                    "Where standard error goes, when the launcher has started this process to stay as the mount's own.")
    private @Nullable Path launcherLog;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        chooseLog();
        Takeover takeover = restart.takeover();
        if (takeover != null && restart.isOnlyCheck()) {
            requireToGoOn(takeover);
            return Main.DONE;
        }
        if (takeover != null) {
            MountLog.rejoin(takeover.mount().mountPoint());
            return serve(config(takeover.mount()), takeover);
        }
        SourceProbe.requireAnswer(source);
        MountConfig config = config(MountCheck.real(source), MountCheck.real(mountPoint), null);
        if (!foreground || (launcherLog != null && !BackgroundMount.fits(config))) {
            MountCheck.check(config.source(), config.mountPoint(), RestartDirectory::isAboutToStart);
            BackgroundMount.start(restart.argumentsOfUser(), config, launcherLog);
            return Main.DONE;
        }
        return serve(config, null);
    }

    /**
     * Fails where this program could not go on with a mount: for its options, for what the mount shows, or for a library that it cannot load. The mount's
     * process lives, so nothing is changed.
     */
    private void requireToGoOn(Takeover takeover) throws IOException {
        SavedMount mount = takeover.mount();
        MountSizes before = mount.sizes();
        MountConfig config =
                config(mount.source(), mount.mountPoint(), before != null ? before : StorageOptions.usual());
        for (SsdConfig ssd : config.ssds()) {
            Path parent = ssd.directory().getParent();
            check(
                    Files.isDirectory(ssd.directory())
                            || (parent != null && Files.isDirectory(parent) && Files.isWritable(parent)),
                    "--ssd " + ssd.directory() + " is not there, and cannot be made");
        }
        takeover.requireTree(config.view().open());
        FuseSession.requireLibrary();
    }

    private int serve(MountConfig config, @Nullable Takeover takeover) throws IOException, CommandFailedException {
        ForegroundMount.run(config, takeover, launcherLog);
        return Main.DONE;
    }

    /** Names the format for the configuration of the log. That is read at the first message, and before the first process is started. */
    private void chooseLog() throws IOException {
        String inFile = configFile == null
                ? null
                : ConfigFile.read(configFile).mountOrEmpty().logFormat();
        LogFormat format = oneOf("--log-format", first(logFormat, inFile, "text"), LogFormat.values());
        System.setProperty("clairfs.log", format.name());
    }

    /** The configuration of a process that goes on with a mount. */
    private MountConfig config(SavedMount mount) throws IOException {
        return config(mount.source(), mount.mountPoint(), mount.sizes());
    }

    /**
     * The configuration. The command line takes precedence over the file, and the file over the defaults.
     *
     * @param before the sizes of the mount that this process goes on with: what they were checked against is the trainers' now; null where there are none
     */
    private MountConfig config(Path realSource, Path realPoint, @Nullable MountSizes before) throws IOException {
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
        GroupConfig groupConfig = group.config(said);
        List<SsdConfig> disks = storage.disks(said);
        MountSizes sizes = before != null ? before : storage.sizes(said, configFile, disks.size(), groupConfig != null);
        return new MountConfig(
                realSource,
                realPoint,
                viewSpec(first(view, said.view(), "raw")),
                oneOf("--view-cache", first(viewCache, said.viewCache(), "made"), ViewCache.values()),
                sizes.memoryBytes(),
                sizes.areas(),
                disks,
                storage.reserveBytes(said, configFile),
                sizes.stagingBytes(),
                IndexCache.of(
                        indexCache != null ? indexCache : said.indexCache(),
                        trustIndex || Boolean.TRUE.equals(said.trustIndex())),
                rule,
                oneOf("--policy", first(policy, said.policy(), "clairfs"), PlacementPolicy.values()),
                file.modelOrUnmeasured(),
                fetches,
                oneOf(
                        "--loader-sharing",
                        first(loaderSharing, said.loaderSharing(), "balanced"),
                        PrefetchSettings.Sharing.values()),
                oneOf("--find-seed", first(findSeed, said.findSeed(), "on"), OnOff.values()) == OnOff.ON,
                groupConfig,
                MetricsOption.parse(spec.commandLine(), metrics != null ? metrics : said.metrics()),
                16,
                seconds * 1000L,
                options,
                restart.config(said, !foreground || launcherLog != null));
    }

    private ViewSpec viewSpec(String text) {
        try {
            return ViewSpec.parse(text);
        } catch (InvalidSpecException e) {
            throw new ParameterException(spec.commandLine(), "--view: " + e.getMessage(), e);
        }
    }

    private static <T> T first(@Nullable T onCommandLine, @Nullable T inFile, T otherwise) {
        return onCommandLine != null ? onCommandLine : inFile != null ? inFile : otherwise;
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
