package io.clairfs.fs.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.ChildProcess;
import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.Readiness;
import io.clairfs.cache.posix.SocketPair;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Mounts by fusermount, which may mount for an ordinary user. It opens the device, mounts, and hands the descriptor over on the socket that the
 * variable {@code _FUSE_COMMFD} names. The JDK passes no socket to a process that it starts, so {@link ChildProcess} starts fusermount.
 */
final class HelperMount {
    private static final long TIMEOUT_MS = 30_000;
    private static final int LONGEST_COMPLAINT = 4096;

    private HelperMount() {}

    /** Mounts at {@code point}. Returns the session's descriptor; the caller closes it. */
    static int mount(Path point, List<String> options) throws MountException {
        Path program = Fusermount.find();
        if (program == null) {
            throw new MountException("fusermount is not on the PATH: install the package 'fuse'");
        }
        List<String> command = List.of(program.toString(), "-o", String.join(",", options), "--", point.toString());
        try {
            return run(point, command);
        } catch (PosixException e) {
            throw new MountException("cannot run fusermount (" + e.getMessage() + ") to mount " + point);
        }
    }

    private static int run(Path point, List<String> command) throws PosixException, MountException {
        int[] handOver = SocketPair.open();
        int[] complaints = new int[0];
        boolean told = false;
        try {
            complaints = SocketPair.open();
            HelperCalls.inherit(handOver[1]);
            List<String> environment = List.of(
                    "_FUSE_COMMFD=" + handOver[1], "PATH=" + System.getenv().getOrDefault("PATH", ""));
            int process = ChildProcess.start(command, environment, complaints[1]);
            Posix.close(handOver[1]);
            Posix.close(complaints[1]);
            told = true;
            String said = said(point, complaints[0]);
            ChildProcess.awaitEnd(process);
            int device = HelperCalls.receiveDescriptor(handOver[0]);
            if (device < 0) {
                throw new MountException(said.isEmpty() ? "fusermount failed to mount " + point : said);
            }
            return device;
        } finally {
            Posix.close(handOver[0]);
            if (complaints.length > 0) {
                Posix.close(complaints[0]);
            }
            if (!told) {
                Posix.close(handOver[1]);
                if (complaints.length > 0) {
                    Posix.close(complaints[1]);
                }
            }
        }
    }

    /** Waits for the program's end and returns its messages in one line. */
    private static String said(Path point, int complaints) throws PosixException, MountException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
        StringBuilder text = new StringBuilder();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(LONGEST_COMPLAINT);
            while (true) {
                long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (leftMs <= 0 || !Readiness.await((int) leftMs, complaints)) {
                    throw new MountException(
                            "fusermount did not mount " + point + " within " + TIMEOUT_MS / 1000 + " s");
                }
                long n = MessageIo.read(complaints, buffer);
                if (n <= 0) {
                    return text.toString().strip().replace('\n', ' ');
                }
                if (text.length() < LONGEST_COMPLAINT) {
                    text.append(new String(buffer.asSlice(0, n).toArray(ValueLayout.JAVA_BYTE), UTF_8));
                }
            }
        }
    }
}
