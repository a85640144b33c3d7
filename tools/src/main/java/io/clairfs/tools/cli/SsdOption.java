package io.clairfs.tools.cli;

import io.clairfs.peer.directory.HeldHere;
import io.clairfs.tools.ByteSize;
import io.clairfs.tools.node.config.SsdConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** The values of {@code --ssd}. */
final class SsdOption {
    private static final long SMALLEST = 1 << 20;
    private static final int MOST = HeldHere.MOST_TIERS - 1;

    private SsdOption() {}

    /** The disks that the values name, in their order. */
    static List<SsdConfig> parse(CommandLine line, List<String> texts) {
        check(line, texts.size() <= MOST, "--ssd can be given " + MOST + " times at most");
        List<SsdConfig> configs = new ArrayList<>();
        for (String text : texts) {
            int colon = text.lastIndexOf(':');
            check(line, colon > 0, "--ssd '" + text + "' must be DIR:SIZE, such as /local/clairfs:200GB");
            ByteSize size;
            try {
                size = ByteSize.parse(text.substring(colon + 1));
            } catch (TypeConversionException e) {
                throw new ParameterException(line, "--ssd '" + text + "': " + e.getMessage(), e);
            }
            check(line, size.bytes() >= SMALLEST, "--ssd '" + text + "' must be at least 1MiB");
            Path directory = Path.of(text.substring(0, colon)).toAbsolutePath().normalize();
            check(
                    line,
                    configs.stream().noneMatch(c -> c.directory().equals(directory)),
                    "--ssd names " + directory + " twice");
            configs.add(new SsdConfig(directory, size.bytes()));
        }
        return configs;
    }

    private static void check(CommandLine line, boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(line, otherwise);
        }
    }
}
