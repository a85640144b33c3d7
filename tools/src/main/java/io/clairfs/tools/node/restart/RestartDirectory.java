package io.clairfs.tools.node.restart;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.tools.node.config.StateDirectory;
import io.clairfs.tools.node.mount.MountProcess;
import io.clairfs.tools.node.mount.RestartProcesses;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The directory that a supervisor and the process that takes over read, for one mount. Its files: {@code restart} (a shell script that becomes
 * that process), {@code mount} ({@link SavedMount}), {@code listing} (the numbered tree), {@code jobs} ({@link SavedJobs}),
 * {@code ranks} ({@link AnnouncedRanks}), {@code restarts} (the supervisor's record), {@code program} (that of an upgrade), {@code upgrade} (that
 * this process ends for one), {@code restart.before} (the script before an upgrade, until the new program has taken over), and {@code lock}
 * ({@link RestartLock}).
 *
 * <p>Only its user may enter it: a process is started from it.
 */
public record RestartDirectory(Path path) {
    private static final Logger LOG = System.getLogger(RestartDirectory.class.getName());
    private static final String SUFFIX = ".restart";
    private static final String SCRIPT = "restart";
    private static final String SCRIPT_BEFORE = "restart.before";
    private static final String PROGRAM = "program";

    /**
     * Makes a new one for the mount at {@code mountPoint}, beside the mount's log, or in a temporary directory: where the user has no home, or while a
     * process that served an earlier mount there still lives, or one that would start that again.
     */
    static RestartDirectory make(Path mountPoint) throws IOException {
        Path path = usual(mountPoint);
        try {
            Files.createDirectories(
                    path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.setPosixFilePermissions(
                    path, PosixFilePermissions.fromString("rwx------")); // fails if another user's
            if (RestartLock.isTaken(path) || MountProcess.isNamed(path)) {
                path = temporary();
            }
        } catch (IOException noHome) {
            path = temporary();
        }
        RestartDirectory made = new RestartDirectory(path);
        made.clear();
        AbandonedRestarts.remove(state(), StateDirectory.atThisHost() + SUFFIX);
        return made;
    }

    /** Makes a new one in a temporary directory. */
    static RestartDirectory makeTemporary() throws IOException {
        return new RestartDirectory(temporary());
    }

    private static Path temporary() throws IOException {
        return Files.createTempDirectory("clairfs-restart-");
    }

    /** Whether a process waits to start that of the mount at {@code mountPoint} again if it dies, or is starting it, as far as this user can see. */
    public static boolean isAboutToStart(Path mountPoint) {
        return RestartProcesses.areThere(mountPoint);
    }

    /** Removes that of the mount at {@code mountPoint}, which is gone, if no process was left to do it. */
    public static void removeAbandoned(Path mountPoint) {
        AbandonedRestarts.removeIfUnused(usual(mountPoint));
    }

    private static Path usual(Path mountPoint) {
        return state().resolve(StateDirectory.uniqueNameOf(mountPoint) + SUFFIX);
    }

    private static Path state() {
        return StateDirectory.ofUser().resolve("clairfs");
    }

    /** Writes the script, which runs {@code program} with the script's arguments and then {@code arguments}, in the directory {@code here}. */
    void writeScript(Path here, List<String> program, List<String> arguments) throws IOException {
        replace(
                SCRIPT,
                "cd " + quoted(here.toString()) + " 2>/dev/null || cd / || exit\nexec "
                        + program.stream().map(RestartDirectory::quoted).collect(Collectors.joining(" ")) + " \"$@\" "
                        + arguments.stream().map(RestartDirectory::quoted).collect(Collectors.joining(" ")) + "\n");
    }

    /** Keeps the script as it is now: the supervisor goes back to it where the next one starts nothing that takes over. */
    void keepScript() throws IOException {
        replace(SCRIPT_BEFORE, text(SCRIPT));
    }

    /** This process does not end for an upgrade after all. */
    void forgetUpgrade() throws IOException {
        Files.deleteIfExists(path.resolve("upgrade"));
    }

    /** Forgets what {@link #keepScript} kept, for a process has taken over. */
    void forgetScriptBefore() throws IOException {
        Files.deleteIfExists(path.resolve(SCRIPT_BEFORE));
    }

    /** Has the next process be one of another program, which {@link #program} tells: the command that starts a JVM of it, up to the main class. */
    public void writeProgram(List<String> command) throws IOException {
        replace(PROGRAM, String.join("\n", command) + "\n");
    }

    /** What {@link #writeProgram} wrote; empty if it did not. */
    List<String> program() throws IOException {
        return text(PROGRAM).lines().toList();
    }

    private static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }

    Path listing() {
        return path.resolve("listing");
    }

    /** Writes a file whole, in place of an older one. */
    void replace(String name, String text) throws IOException {
        Path fresh = Files.createTempFile(path, name, ".new"); // another process may write the same
        try {
            Files.writeString(fresh, text, UTF_8);
            Files.move(fresh, path.resolve(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) { // the disk is full, say
            Files.deleteIfExists(fresh);
            throw e;
        }
    }

    /** The text of a file; empty when it is not there. */
    String text(String name) throws IOException {
        try {
            return Files.readString(path.resolve(name), UTF_8);
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    /** Makes it and its files as new as if they had been written now. */
    void touch() throws IOException {
        FileTime now = FileTime.from(Instant.now());
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
            for (Path file : files) {
                Files.setLastModifiedTime(file, now);
            }
        }
        Files.setLastModifiedTime(path, now);
    }

    /** Removes its files, the lock last: until then no other process takes the directory. */
    void clear() throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path, file -> !file.endsWith(RestartLock.FILE))) {
            files.forEach(found::add);
        }
        found.add(path.resolve(RestartLock.FILE));
        for (Path file : found) {
            Files.deleteIfExists(file);
        }
    }

    /** Removes it, unless another process has files there. */
    void removeIfEmpty() throws IOException {
        try {
            Files.deleteIfExists(path);
        } catch (DirectoryNotEmptyException used) {
            LOG.log(Level.DEBUG, "the directory of a process that came meanwhile", used);
        }
    }
}
