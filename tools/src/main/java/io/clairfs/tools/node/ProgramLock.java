package io.clairfs.tools.node;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Says that a mount, or another process that runs for long, runs the program of a build, to whoever builds anew: a checkout may be shared by
 * machines and containers that do not see each other's processes. The kernel gives the lock up when the process ends. The launcher removes only programs that nobody has locked.
 */
public final class ProgramLock {
    /** The launcher makes it with each program. */
    private static final String FILE = "begun";

    private ProgramLock() {}

    /** Holds the lock of the program that this process runs until it ends. On a file system that is slow to lock nobody waits for it. */
    public static void hold() {
        String first = System.getProperty("java.class.path").split(File.pathSeparator, 2)[0];
        Thread.ofPlatform().daemon().name("program-lock").start(() -> hold(Path.of(first)));
    }

    /** Holds the lock of the program that has this library. Returns whether there is one. */
    static boolean hold(Path library) {
        Path file = library.resolveSibling(FILE);
        if (!Files.isRegularFile(file)) {
            return false; // a package, which is never built
        }
        try {
            Posix.lockShared(Posix.openAt(Posix.AT_FDCWD, file.toString().getBytes(UTF_8), Posix.O_RDONLY));
            return true;
        } catch (PosixException cannot) { // it is being removed, or the file system has no locks
            return false;
        }
    }
}
