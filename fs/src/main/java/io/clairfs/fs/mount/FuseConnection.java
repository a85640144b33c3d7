package io.clairfs.fs.mount;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.cache.posix.Readiness;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The kernel's side of a FUSE mount that its process no longer serves.
 *
 * <p>Such a process may be unable to end, because one of its threads waits in the kernel for a reader that waits for the process. The mount's
 * {@link Watchdog}, which then ends the connection, may have been killed as well. The mount's user can still end it through the kernel's control
 * files, where these are mounted, and root can by force.
 */
public final class FuseConnection {
    /** In place of a device where nothing is mounted. */
    public static final String NONE = "none";

    private static final Logger LOG = System.getLogger(FuseConnection.class.getName());
    private static final Path CONNECTIONS = Path.of("/sys/fs/fuse/connections");
    private static final Path MOUNTS = Path.of("/proc/self/mountinfo");
    private static final int DEVICE = 2;
    private static final int POINT = 4;

    private FuseConnection() {}

    /** Ends the connection of the mount at {@code point}, if possible. All who wait for it get an error. */
    public static void abort(Path point) {
        try {
            Path abort = CONNECTIONS.resolve(number(point)).resolve("abort");
            if (Files.isWritable(abort)) {
                Files.writeString(abort, "1");
            } else if (ProcessIdentity.userId() == 0) {
                Unmount.byForce(point);
            }
        } catch (PosixException e) {
            LOG.log(Level.DEBUG, "unmounting " + point + " by force: " + e.getMessage());
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "ending the connection of " + point + ": " + e.getMessage());
        }
    }

    private static String number(Path point) throws IOException {
        String device = device(point);
        return device.substring(device.indexOf(':') + 1);
    }

    /**
     * Whether a session is what is mounted at {@code point}. The kernel gives the number of a mount that was taken away to the next one, perhaps at the same
     * place, but only after it has ended the connection. So that is looked at last.
     *
     * @param number the device of the session's mount, as {@link #device(Path)} told it
     * @param descriptor the session's
     */
    public static boolean isMounted(Path point, String number, int descriptor) throws IOException {
        return !number.equals(NONE) && number.equals(device(point)) && !Readiness.hasFailed(descriptor);
    }

    /** The device of the newest mount at {@code point}, such as {@code 0:57}, or {@link #NONE}. Its minor number is the connection's. */
    public static String device(Path point) throws IOException {
        return device(point, Files.readString(MOUNTS, ISO_8859_1));
    }

    /**
     * Whether a process sees the mount with this device, at whatever place.
     *
     * @param process its directory in /proc
     */
    public static boolean isSeenBy(Path process, String device) throws IOException {
        return !device.equals(NONE)
                && Arrays.stream(Files.readString(process.resolve("mountinfo"), ISO_8859_1)
                                .split("\n", -1))
                        .map(line -> line.split(" ", POINT))
                        .anyMatch(fields -> fields.length == POINT && fields[DEVICE].equals(device));
    }

    /** The same by this table, each byte of which is one character. */
    static String device(Path point, String table) {
        String escaped = point.toString()
                .replace("\\", "\\134")
                .replace(" ", "\\040")
                .replace("\t", "\\011")
                .replace("\n", "\\012");
        return Arrays.stream(table.split("\n", -1)) // a carriage return may be part of a name
                .map(line -> line.split(" ", -1))
                .filter(fields ->
                        fields.length > POINT && fields[POINT].equals(new String(escaped.getBytes(UTF_8), ISO_8859_1)))
                .reduce((_, newest) -> newest)
                .map(fields -> fields[DEVICE])
                .orElse(NONE);
    }
}
