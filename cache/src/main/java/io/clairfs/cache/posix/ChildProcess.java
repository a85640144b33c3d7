package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Programs that inherit descriptors of this process. The JDK closes all descriptors but the first three in the processes that it starts.
 *
 * <p>The caller of {@link #start} waits for the end by {@link #awaitEnd}, once; the JDK does not know these processes.
 */
public final class ChildProcess {
    private static final int FIRST_UNUSED = 3;

    /** {@code posix_spawn_file_actions_t} has 80 bytes in glibc and musl. */
    private static final int FILE_ACTIONS_BYTES = 256;

    private static final NativeFunction ACTIONS_INIT = NativeFunction.of("posix_spawn_file_actions_init");
    private static final NativeFunction ACTIONS_DUP2 = NativeFunction.of("posix_spawn_file_actions_adddup2");
    private static final NativeFunction ACTIONS_DESTROY = NativeFunction.of("posix_spawn_file_actions_destroy");
    private static final NativeFunction SPAWN = NativeFunction.of("posix_spawn");
    private static final NativeFunction WAITPID = NativeFunction.of("waitpid");

    private ChildProcess() {}

    /**
     * Starts a program with {@code error} as its standard error. It inherits all descriptors that are not closed at an exec. Returns the process's
     * number.
     */
    public static int start(List<String> command, List<String> environment, int error) throws PosixException {
        return spawn(
                command,
                environment,
                actions ->
                        returned("posix_spawn", (int) ACTIONS_DUP2.call(actions.address(), error, FIRST_UNUSED - 1)));
    }

    /**
     * Starts a program with {@code descriptors} as its descriptors 0, 1, 2 and so on, and no others. Returns the process's number.
     *
     * @throws PosixException with ENOSYS where the C library is too old: before glibc 2.34
     */
    public static int startWith(List<String> command, List<String> environment, int... descriptors)
            throws PosixException {
        NativeFunction closeFrom = NativeFunction.ifThere("posix_spawn_file_actions_addclosefrom_np");
        if (closeFrom == null) {
            throw new PosixException("posix_spawn_file_actions_addclosefrom_np", Errno.ENOSYS);
        }
        int[] copies = new int[descriptors.length];
        int made = 0;
        try {
            for (; made < copies.length; made++) {
                // Above all targets, so that no target is a descriptor that is still to be copied.
                copies[made] = Posix.duplicateFrom(descriptors[made], descriptors.length);
            }
            return spawn(command, environment, actions -> {
                for (int target = 0; target < copies.length; target++) {
                    returned("posix_spawn", (int) ACTIONS_DUP2.call(actions.address(), copies[target], target));
                }
                returned("posix_spawn", (int) closeFrom.call(actions.address(), copies.length));
            });
        } finally {
            for (int i = 0; i < made; i++) {
                Posix.close(copies[i]);
            }
        }
    }

    /** Says what the new process does with its descriptors. */
    @FunctionalInterface
    private interface FileActions {
        void fill(MemorySegment actions) throws PosixException;
    }

    private static int spawn(List<String> command, List<String> environment, FileActions fileActions)
            throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment actions = arena.allocate(FILE_ACTIONS_BYTES, 16);
            returned("posix_spawn", (int) ACTIONS_INIT.call(actions.address()));
            try {
                fileActions.fill(actions);
                MemorySegment pid = arena.allocate(JAVA_INT);
                MemorySegment arguments = strings(arena, command);
                MemorySegment program = arena.allocateFrom(command.getFirst());
                returned("posix_spawn", (int) SPAWN.call(
                        pid.address(),
                        program.address(),
                        actions.address(),
                        0,
                        arguments.address(),
                        strings(arena, environment).address()));
                return pid.get(JAVA_INT, 0);
            } finally {
                long _ = ACTIONS_DESTROY.call(actions.address());
            }
        }
    }

    private static MemorySegment strings(Arena arena, List<String> texts) {
        MemorySegment array = arena.allocate(ADDRESS, texts.size() + 1L);
        for (int i = 0; i < texts.size(); i++) {
            array.setAtIndex(ADDRESS, i, arena.allocateFrom(texts.get(i)));
        }
        return array; // its last pointer is null
    }

    /** Waits for the end of a process that was started here. */
    public static void awaitEnd(int process) throws PosixException {
        int rc;
        do {
            rc = (int) WAITPID.call(process, 0, 0);
        } while (rc < 0 && NativeCall.errno() == Errno.EINTR);
        if (rc < 0) {
            throw new PosixException("waitpid", NativeCall.errno());
        }
    }

    /** Throws if a call returned an errno. */
    private static void returned(String call, int errno) throws PosixException {
        if (errno != 0) {
            throw new PosixException(call, errno);
        }
    }
}
