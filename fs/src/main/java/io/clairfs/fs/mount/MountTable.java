package io.clairfs.fs.mount;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The mounts that this process sees: /proc/self/mounts. */
public final class MountTable {
    private static final Path TABLE = Path.of("/proc/self/mounts");
    private static final int FIELDS = 3;

    private MountTable() {}

    /**
     * One line of the table.
     *
     * @param device the first field; for FUSE the {@code fsname} option
     * @param type such as {@code ext4} or {@code fuse.clairfs}
     */
    public record Mount(String device, Path point, String type) {}

    /** All mounts, oldest first. */
    public static List<Mount> all() throws IOException {
        return parse(Files.readString(TABLE, ISO_8859_1));
    }

    /** The mounts of a table, each byte of which is one character. */
    static List<Mount> parse(String table) {
        List<Mount> mounts = new ArrayList<>();
        for (String line : table.split("\n", -1)) { // a carriage return may be part of a name
            String[] fields = line.split(" ", -1);
            if (fields.length < FIELDS) {
                continue;
            }
            mounts.add(new Mount(unescape(fields[0]), Path.of(unescape(fields[1])), fields[2]));
        }
        return mounts;
    }

    /** The mount exactly at {@code point}: the newest, if there are several. */
    public static Optional<Mount> at(Path point) throws IOException {
        return all().stream().filter(m -> m.point().equals(point)).reduce((_, newest) -> newest);
    }

    /** Undoes the octal escapes (\040 for a space) of the table, and reads the result as UTF-8. */
    private static String unescape(String field) {
        byte[] out = new byte[field.length()];
        int length = 0;
        for (int i = 0; i < field.length(); i++) {
            if (field.charAt(i) == '\\' && i + 3 < field.length()) {
                out[length++] = (byte) Integer.parseInt(field.substring(i + 1, i + 4), 8);
                i += 3;
            } else {
                out[length++] = (byte) field.charAt(i);
            }
        }
        return new String(out, 0, length, UTF_8);
    }
}
