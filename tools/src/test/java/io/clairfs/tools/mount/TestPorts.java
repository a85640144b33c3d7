package io.clairfs.tools.mount;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Ports on loopback that nobody uses now. The kernel's ephemeral ports are excluded, because any connection may take one after the check.
 * Concurrent test runs avoid each other's ports: each port is a byte of a file that all of them lock.
 */
public final class TestPorts {
    private static final int FIRST = 10_000;
    private static final int LEAST = 5_000;
    private static final int TRIES = 200;

    private static final Path LOCK = Path.of("/tmp/clairfs-test-ports-" + System.getProperty("user.name") + ".lock");

    /** The file with the locks, open until the process ends. Closing it would release them. */
    private static @Nullable FileChannel locks;

    private TestPorts() {}

    /** The first of {@code count} free ports in a row; no other test gets any of them until this process ends. */
    public static synchronized int free(int count) throws IOException {
        int end = Integer.parseInt(Files.readString(Path.of("/proc/sys/net/ipv4/ip_local_port_range"))
                .strip()
                .split("\\s+", -1)[0]);
        end = Math.max(end, FIRST + LEAST);
        for (int tried = 0; tried < TRIES; tried++) {
            int first = ThreadLocalRandom.current().nextInt(FIRST, end - count);
            if (areOurs(first, count) && areFree(first, count)) {
                return first;
            }
        }
        throw new IOException("no " + count + " free ports in a row below " + end);
    }

    private static boolean areOurs(int first, int count) throws IOException {
        FileChannel all = locks;
        if (all == null) {
            all = FileChannel.open(LOCK, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            locks = all;
        }
        try {
            return all.tryLock(first, count, false) != null;
        } catch (OverlappingFileLockException alreadyGiven) {
            return false;
        }
    }

    private static boolean areFree(int first, int count) {
        for (int port = first; port < first + count; port++) {
            try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                if (!probe.isBound()) {
                    return false;
                }
            } catch (IOException taken) {
                return false;
            }
        }
        return true;
    }
}
