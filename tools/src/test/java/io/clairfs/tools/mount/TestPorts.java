package io.clairfs.tools.mount;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports on loopback that nobody uses now. None of those that the kernel hands out by itself: one of these may be any connection's the
 * moment after it was looked at.
 */
final class TestPorts {
    private static final int FIRST = 10_000;
    private static final int LEAST = 5_000;
    private static final int TRIES = 200;

    /** What tests that run at the same time have, used or not. */
    private static final BitSet GIVEN = new BitSet();

    private TestPorts() {}

    /** The first of {@code count} free ports in a row; nobody else in this process gets any of them. */
    static synchronized int free(int count) throws IOException {
        int end = Integer.parseInt(Files.readString(Path.of("/proc/sys/net/ipv4/ip_local_port_range"))
                .strip()
                .split("\\s+", -1)[0]);
        end = Math.max(end, FIRST + LEAST);
        for (int tried = 0; tried < TRIES; tried++) {
            int first = ThreadLocalRandom.current().nextInt(FIRST, end - count);
            if (GIVEN.get(first, first + count).isEmpty() && areFree(first, count)) {
                GIVEN.set(first, first + count);
                return first;
            }
        }
        throw new IOException("no " + count + " free ports in a row below " + end);
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
