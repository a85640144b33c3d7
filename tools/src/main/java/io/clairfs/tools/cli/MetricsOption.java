package io.clairfs.tools.cli;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The value of {@code --metrics}. */
final class MetricsOption {
    private static final String ADDRESS = "([^:,\\s]+|\\[[0-9a-fA-F:.]+]):[0-9]{1,5}";
    private static final int LAST_PORT = 65_535;

    private MetricsOption() {}

    /** The address to serve metrics on; null if none is given. */
    static @Nullable InetSocketAddress parse(CommandLine line, @Nullable String text) {
        if (text == null) {
            return null;
        }
        int colon = text.lastIndexOf(':');
        if (!text.matches(ADDRESS)
                || Integer.parseInt(text.substring(colon + 1)) < 1
                || Integer.parseInt(text.substring(colon + 1)) > LAST_PORT) {
            throw new ParameterException(line, "--metrics '" + text + "' must be ADDRESS:PORT, such as 127.0.0.1:9567");
        }
        InetSocketAddress address =
                new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
        if (address.isUnresolved()) {
            throw new ParameterException(line, "--metrics '" + text + "': no name server knows that host");
        }
        return address;
    }
}
