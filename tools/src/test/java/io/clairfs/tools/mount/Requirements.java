package io.clairfs.tools.mount;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** What a test needs of the machine; where it is missing the test is skipped and says why. */
final class Requirements {
    private Requirements() {}

    private static void require(boolean holds, String reason) {
        if (!holds) {
            System.out.println("skipped: " + reason);
        }
        assumeTrue(holds, reason);
    }

    /** A FUSE device that this user may open, libfuse 2 and fusermount. */
    static void fuse() throws IOException, InterruptedException {
        Path device = Path.of("/dev/fuse");
        require(Files.exists(device), "there is no /dev/fuse");
        require(Files.isWritable(device), "/dev/fuse may not be opened by this user");
        require(works("fusermount", "-V"), "fusermount is missing (package fuse)");
    }

    static void python() throws IOException, InterruptedException {
        require(works("/usr/bin/python3", "-c", ""), "/usr/bin/python3 is missing");
    }

    static void torch() throws IOException, InterruptedException {
        require(
                works("/usr/bin/python3", "-c", "import torch, torchvision"),
                "/usr/bin/python3 has no torch or torchvision (packages python3-torch, python3-torchvision)");
    }

    static void root() throws IOException, InterruptedException {
        require(Ended.run(List.of("id", "-u"), Map.of()).succeeded().strip().equals("0"), "only root can set this up");
    }

    /** A mount table of one's own, in which the devices can be arranged. */
    static void mountNamespace() throws IOException, InterruptedException {
        require(
                works("unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"),
                "unshare -m is not allowed here, so /dev cannot be arranged for one process");
    }

    static boolean works(String... command) throws IOException, InterruptedException {
        try {
            return Ended.run(List.of(command), Map.of()).exit() == 0;
        } catch (IOException notFound) {
            return false;
        }
    }
}
