package io.clairfs.gpufeeder.ring;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.NativeCall;
import io.clairfs.cache.posix.NativeFunction;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Memory without a name that another process maps by its descriptor ({@code memfd_create}). The kernel frees it when nobody has it open or mapped.
 * It counts as memory of its processes, and no size of {@code /dev/shm} limits it.
 */
final class SharedMemory implements AutoCloseable {
    private static final int MFD_CLOEXEC = 1;

    private static final NativeFunction MEMFD_CREATE = NativeFunction.of("memfd_create");
    private static final NativeFunction FALLOCATE = NativeFunction.of("fallocate");

    private final int descriptor;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment content;

    private SharedMemory(int descriptor, long bytes) throws IOException {
        this.descriptor = descriptor;
        Path file = Path.of("/proc/self/fd/" + descriptor);
        try (FileChannel opened = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            content = opened.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
        }
    }

    /**
     * Makes memory of this size, zeroed, all of it at once. The caller has seen that there is so much: the kernel does not refuse what it lacks, it kills
     * processes.
     */
    static SharedMemory make(String name, long bytes) throws IOException {
        int descriptor = create(name);
        try {
            allocate(descriptor, bytes);
            return new SharedMemory(descriptor, bytes);
        } catch (IOException | RuntimeException | Error e) {
            Posix.close(descriptor);
            throw e;
        }
    }

    private static int create(String name) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            int fd = (int) MEMFD_CREATE.call(arena.allocateFrom(name).address(), MFD_CLOEXEC);
            if (fd < 0) {
                throw new PosixException("memfd_create", NativeCall.errno());
            }
            return fd;
        }
    }

    private static void allocate(int descriptor, long bytes) throws PosixException {
        int rc;
        do {
            rc = (int) FALLOCATE.call(descriptor, 0, 0, bytes);
        } while (rc != 0 && NativeCall.errno() == Errno.EINTR);
        if (rc != 0) {
            throw new PosixException("allocate " + bytes + " bytes of shared memory", NativeCall.errno());
        }
    }

    int descriptor() {
        return descriptor;
    }

    MemorySegment content() {
        return content;
    }

    /** Nobody here may use the content any more. Other processes keep what they have mapped. */
    @Override
    public void close() {
        arena.close();
        Posix.close(descriptor);
    }
}
