package io.clairfs.tools.mount;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.clairfs.cache.posix.CachedPages;
import io.clairfs.cache.posix.Posix;
import io.clairfs.fs.testing.FuseCondition;
import io.clairfs.tools.node.limits.MachineMemory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A test's requirements on the machine. If one is missing, the test is skipped and prints the reason. */
final class Requirements {
    /** The Python of the tests. The bundle for GPUs names that of the machine, which has the frameworks. */
    static final String PYTHON = System.getProperty("clairfs.python", "/usr/bin/python3");

    private Requirements() {}

    private static void require(@Nullable String missing) {
        if (missing != null) {
            System.out.println("skipped: " + missing);
        }
        assumeTrue(missing == null, String.valueOf(missing));
    }

    /** The reason why nothing can be mounted here. Null if it can. */
    static @Nullable String missingForMounts() throws IOException, InterruptedException {
        String missing = FuseCondition.missing();
        if (missing != null) {
            return missing;
        }
        if (!works("fusermount", "-V")) {
            return "fusermount is missing (package fuse)";
        }
        return works(PYTHON, "-c", "") ? null : PYTHON + " is missing";
    }

    /** The reason why devices cannot be arranged for one process here. Null if they can. */
    static @Nullable String missingForNamespaces() throws IOException, InterruptedException {
        if (!isRoot()) {
            return "only root can arrange /dev for one process";
        }
        return works("unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt")
                ? null
                : "unshare -m is not allowed here, so /dev cannot be arranged for one process";
    }

    /** The reason why nodes cannot have networks of their own here. Null if they can. */
    static @Nullable String missingForNetworks() throws IOException, InterruptedException {
        return isRoot() ? NodeNetwork.missing() : "only root can give nodes networks of their own";
    }

    static void mounts() throws IOException, InterruptedException {
        require(missingForMounts());
    }

    /** Requires a kernel that reports the cached pages of a file. */
    static void cachedPages() throws IOException {
        int fd = Posix.openAt(Posix.AT_FDCWD, "/proc/self/exe".getBytes(StandardCharsets.US_ASCII), Posix.O_RDONLY);
        try {
            require(
                    CachedPages.isTold(fd)
                            ? null
                            : "the kernel has no cachestat (Linux 6.5), so lost pages are not noticed");
        } finally {
            Posix.close(fd);
        }
    }

    /** Requires that a process here may have so much memory. */
    static void memory(long bytes) {
        require(
                MachineMemory.now().mostBytes() >= bytes
                        ? null
                        : "less memory than " + (bytes >> 30) + " GiB, which other tests take a part of");
    }

    static void root() throws IOException, InterruptedException {
        require(isRoot() ? null : "only root can set this up");
    }

    private static boolean isRoot() throws IOException, InterruptedException {
        return Ended.run(List.of("id", "-u"), Map.of()).succeeded().strip().equals("0");
    }

    static void namespaces() throws IOException, InterruptedException {
        require(missingForNamespaces());
    }

    /** Whether both are installed. They are not imported, which takes seconds of the processor: the tests that need them do that. */
    static boolean hasTorch() throws IOException, InterruptedException {
        String find = "from importlib.util import find_spec; assert find_spec('torch') and find_spec('torchvision')";
        return works(PYTHON, "-c", find);
    }

    static void torch() throws IOException, InterruptedException {
        require(
                hasTorch()
                        ? null
                        : PYTHON + " has no torch or torchvision (packages python3-torch, python3-torchvision)");
    }

    static void fio() throws IOException, InterruptedException {
        require(works("fio", "--version") ? null : "fio is missing (package fio)");
    }

    static boolean works(String... command) throws IOException, InterruptedException {
        try {
            return Ended.run(List.of(command), Map.of()).exit() == 0;
        } catch (IOException notFound) {
            return false;
        }
    }
}
