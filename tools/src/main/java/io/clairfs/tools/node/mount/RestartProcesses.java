package io.clairfs.tools.node.mount;

import io.clairfs.fs.mount.FuseConnection;
import io.clairfs.fs.mount.Supervisor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The processes that start the one of a mount again when it dies, as /proc shows them to this user: its supervisor, and whatever goes on with the mount,
 * from the shell on that becomes its process. From when a mount has its first supervisor until it ends there is one of them at any time.
 */
public final class RestartProcesses {
    private static final String TAKE_OVER = "--take-over=";
    private static final String MOUNTED_AT = "--mounted-at=";

    private RestartProcesses() {}

    /** Whether there are any for what is mounted at {@code mountPoint}. */
    public static boolean areThere(Path mountPoint) {
        try {
            String number = FuseConnection.device(mountPoint);
            return !number.equals(FuseConnection.NONE)
                    && !of(mountPoint, number).isEmpty();
        } catch (IOException unreadable) {
            return false;
        }
    }

    /**
     * All that there are for a mount.
     *
     * @param number its device as in /proc/self/mountinfo
     */
    public static List<Long> of(Path mountPoint, String number) {
        Supervisor.Kept mount = new Supervisor.Kept(mountPoint.toString(), number);
        return MountProcess.others(process -> Objects.equals(mount, kept(process)) || takesOver(process, mountPoint));
    }

    /** Those that go on with a mount at {@code mountPoint}, or have done so. */
    public static List<Long> takingOver(Path mountPoint) {
        return MountProcess.others(process -> takesOver(process, mountPoint));
    }

    /** The device of the mount that the supervisor {@code pid} keeps; null if that is not there, or is another process. */
    public static @Nullable String number(long pid) {
        Supervisor.Kept mount = kept(MountProcess.PROC.resolve(Long.toString(pid)));
        return mount == null ? null : mount.number();
    }

    /** Whether a process with this argument goes on with the mount of one that died. */
    static boolean isToTakeOver(String argument) {
        return argument.startsWith(TAKE_OVER);
    }

    private static Supervisor.@Nullable Kept kept(Path process) {
        try {
            List<String> arguments = MountProcess.arguments(process);
            return Supervisor.keptBy(arguments.subList(0, arguments.size() - 1));
        } catch (IOException gone) {
            return null;
        }
    }

    /** A container may have another mount at the same place, and its processes may be seen from here. */
    private static boolean takesOver(Path process, Path mountPoint) {
        try {
            List<String> arguments = MountProcess.arguments(process);
            return arguments.contains(MOUNTED_AT + mountPoint)
                    && arguments.stream().anyMatch(RestartProcesses::isToTakeOver)
                    && MountProcess.namespace(process)
                            .equals(MountProcess.namespace(MountProcess.PROC.resolve("self")));
        } catch (IOException goneOrNotToBeSeen) {
            return false;
        }
    }
}
