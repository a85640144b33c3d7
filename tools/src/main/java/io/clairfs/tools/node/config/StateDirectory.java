package io.clairfs.tools.node.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Where the user's programs keep what they need again, such as logs: {@code $XDG_STATE_HOME} or {@code ~/.local/state}. */
public final class StateDirectory {
    private static final Path HOST = Path.of("/proc/sys/kernel/hostname");

    /** A file's name has 255 bytes at most; a host's takes up to 64 of them, and endings follow. */
    private static final int MOST_BYTES = 150;

    private static final int DIGEST_BYTES = 16;

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
        return shortened(mountPoint.toString().substring(1).replace('/', '-')) + atThisHost();
    }

    /** How what belongs to one mount alone is called there: without white space, for a job line names files there. */
    public static String uniqueNameOf(Path mountPoint) {
        StringBuilder name = new StringBuilder();
        mountPoint.toString().substring(1).codePoints().forEach(c -> {
            if (c == '/') {
                name.append('-');
            } else if (c == '%' || c == '-' || Character.isWhitespace(c)) {
                for (byte each : Character.toString(c).getBytes(UTF_8)) {
                    name.append("%%%02X".formatted(each));
                }
            } else {
                name.appendCodePoint(c);
            }
        });
        return shortened(name.toString()) + atThisHost();
    }

    /** A name that is too long for a file ends in a digest of itself. */
    private static String shortened(String name) {
        byte[] bytes = name.getBytes(UTF_8);
        if (bytes.length <= MOST_BYTES) {
            return name;
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
            String end = "~" + HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
            int length = name.length();
            while (name.substring(0, length).getBytes(UTF_8).length + end.length() > MOST_BYTES
                    || Character.isHighSurrogate(name.charAt(length - 1))) {
                length--;
            }
            return name.substring(0, length) + end;
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JVM has SHA-256", e);
        }
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
