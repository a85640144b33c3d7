package io.clairfs.tools.node.config;

import java.nio.file.Path;

/** Where the user's programs keep what they need again, such as logs: {@code $XDG_STATE_HOME} or {@code ~/.local/state}. */
public final class StateDirectory {
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
}
