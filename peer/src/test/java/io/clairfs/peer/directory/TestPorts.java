package io.clairfs.peer.directory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports on loopback that nobody uses now. None of those that the kernel hands out by itself: one of these may be any connection's the
 * moment after it was looked at. Test runs beside this one leave them alone: each port is a byte of a file that all of them lock.
 */
final class TestPorts {
    private static final Path LOCK = Path.of("/tmp/clairfs-test-ports-" + System.getProperty("user.name") + ".lock");
    private static final int FIRST = 10_000;
    private static final int END = 15_000;

    private TestPorts() {}

    /** So many ports, until this process ends. */
    static synchronized List<Integer> free(int count) throws IOException {
        List<Integer> ports = new ArrayList<>();
        while (ports.size() < count) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, END);
            if (isOurs(port) && isFree(port)) {
                ports.add(port);
            }
        }
        return ports;
    }

    private static boolean isOurs(int port) throws IOException {
        try {
            return Locks.CHANNEL.tryLock(port, 1, false) != null;
        } catch (OverlappingFileLockException alreadyGiven) {
            return false;
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return free.isBound();
        } catch (IOException taken) {
            return false;
        }
    }

    /** Open until the process ends: closing it would give up the locks. */
    private static final class Locks {
        static final FileChannel CHANNEL = open();

        private static FileChannel open() {
            try {
                return FileChannel.open(LOCK, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }
}
