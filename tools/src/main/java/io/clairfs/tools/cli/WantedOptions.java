package io.clairfs.tools.cli;

import io.clairfs.tools.ByteSize;
import io.clairfs.tools.config.ConfigFile;
import io.clairfs.tools.config.MountFile;
import io.clairfs.tools.doctor.Wanted;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** Those options of {@code clairfs mount} that {@code clairfs doctor} looks at. */
final class WantedOptions {
    private static final long USUAL_RESERVE = 1 << 30;

    @Option(names = "--memory", paramLabel = "SIZE", description = "As for 'clairfs mount'.")
    private @Nullable ByteSize memory;

    @Option(names = "--ssd", paramLabel = "DIR:SIZE", description = "As for 'clairfs mount'.")
    private List<String> ssds = new ArrayList<>();

    @Option(names = "--ssd-reserve", paramLabel = "SIZE", description = "As for 'clairfs mount'.")
    private @Nullable ByteSize ssdReserve;

    @Option(names = "--bind", paramLabel = "ADDRESS[:PORT]", description = "As for 'clairfs mount'.")
    private @Nullable String bind;

    @Option(names = "--members", paramLabel = "HOST[:PORT]", split = ",", description = "As for 'clairfs mount'.")
    private List<String> members = new ArrayList<>();

    @Option(names = "--secret-file", paramLabel = "FILE", description = "As for 'clairfs mount'.")
    private @Nullable Path secretFile;

    @Option(names = "--rail", paramLabel = "ADDRESS", split = ",", description = "As for 'clairfs mount'.")
    private List<String> rails = new ArrayList<>();

    @Option(names = "--metrics", paramLabel = "ADDRESS:PORT", description = "As for 'clairfs mount'.")
    private @Nullable String metrics;

    @Option(names = "--config", paramLabel = "FILE", description = "As for 'clairfs mount'.")
    private @Nullable Path configFile;

    @Option(names = "-o", paramLabel = "OPTS", split = ",", description = "As for 'clairfs mount'.")
    private List<String> options = new ArrayList<>();

    /** To what paths are relative. */
    private Path directory = Path.of("");

    /** The options among the arguments of a mount that runs, whose paths are relative to {@code directory}. */
    static WantedOptions among(List<String> arguments, Path directory) {
        WantedOptions found = new WantedOptions();
        CommandLine line = new CommandLine(found).setUnmatchedArgumentsAllowed(true);
        line.registerConverter(ByteSize.class, ByteSize::parse);
        line.parseArgs(arguments.toArray(String[]::new));
        found.directory = directory;
        found.ssds = found.here(found.ssds);
        found.secretFile = found.secretFile == null ? null : directory.resolve(found.secretFile);
        found.configFile = found.configFile == null ? null : directory.resolve(found.configFile);
        return found;
    }

    /** The file of {@code --config}. */
    @Nullable
    Path configFile() {
        return configFile;
    }

    /** The options, those of the file of {@code --config} included. */
    Wanted wanted(CommandLine line, @Nullable Path source, @Nullable Path mountPoint) throws IOException {
        MountFile said = configFile == null
                ? MountFile.EMPTY
                : ConfigFile.read(configFile).mountOrEmpty();
        ByteSize reserve = ssdReserve != null ? ssdReserve : size(line, "ssd-reserve", said.ssdReserve());
        ByteSize most = memory != null ? memory : size(line, "memory", said.memory());
        return new Wanted(
                source,
                mountPoint,
                most == null ? null : most.bytes(),
                SsdOption.parse(line, ssds.isEmpty() && said.ssd() != null ? here(said.ssd()) : ssds),
                reserve == null ? USUAL_RESERVE : reserve.bytes(),
                bind != null ? bind : said.bind(),
                members.isEmpty() && said.members() != null ? said.members() : members,
                secretFile != null || said.secretFile() == null ? secretFile : directory.resolve(said.secretFile()),
                rails.isEmpty() && said.rail() != null ? said.rail() : rails,
                metrics != null ? metrics : said.metrics(),
                options);
    }

    private List<String> here(List<String> paths) {
        return paths.stream().map(text -> directory.resolve(text).toString()).toList();
    }

    private @Nullable ByteSize size(CommandLine line, String key, @Nullable String text) {
        try {
            return text == null ? null : ByteSize.parse(text);
        } catch (TypeConversionException e) {
            throw new ParameterException(line, configFile + ": " + key + ": " + e.getMessage(), e);
        }
    }
}
