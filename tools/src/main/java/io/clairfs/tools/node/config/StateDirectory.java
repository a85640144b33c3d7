package io.clairfs.tools.node.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where the user's programs keep what they need again, such as logs: {@code $XDG_STATE_HOME} or {@code ~/.local/state}. */
public final class StateDirectory {
    private static final Path HOST = Path.of("/proc/sys/kernel/hostname");

    private StateDirectory() {}

    /** The directory, which may not exist. */
    public static Path ofUser() {
        String state = System.getenv("XDG_STATE_HOME");
        if (state != null && !state.isEmpty()) {
            return Path.of(state);
        }
        String home = System.getenv("HOME");
        return Path.of(home == null || home.isEmpty() ? System.getProperty("user.home") : home, ".local", "state");
    }

    /** How the log of a mount is called there. Homes are shared between hosts, so it has the host's name. {@code /a-b} and {@code /a/b} share one. */
    public static String nameOf(Path mountPoint) {
        return mountPoint.toString().substring(1).replace('/', '-') + atThisHost();
    }

    /** How what belongs to one mount alone is called there. */
    public static String uniqueNameOf(Path mountPoint) {
        return mountPoint
                        .toString()
                        .substring(1)
                        .replace("%", "%25")
                        .replace("-", "%2D")
                        .replace('/', '-')
                + atThisHost();
    }

    /** The end of the names of this host's mounts. */
    public static String atThisHost() {
        try {
            return "@" + Files.readString(HOST).strip();
        } catch (IOException e) {
            return "@host";
        }
    }
}
