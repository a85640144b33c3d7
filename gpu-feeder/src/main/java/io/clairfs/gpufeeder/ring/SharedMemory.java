package io.clairfs.gpufeeder.ring;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.NativeCall;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Memory without a name that another process maps by its descriptor ({@code memfd_create}). The kernel frees it when nobody has it open or mapped.
 * It counts as memory of its processes, and no size of {@code /dev/shm} limits it.
 */
final class SharedMemory implements AutoCloseable {
    private static final int MFD_CLOEXEC = 1;

    private static final MethodHandle MEMFD_CREATE =
            NativeCall.bind("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FALLOCATE =
            NativeCall.bind("fallocate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));

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
            int fd = (int) MEMFD_CREATE.invokeExact(NativeCall.state(), arena.allocateFrom(name), MFD_CLOEXEC);
            if (fd < 0) {
                throw new PosixException("memfd_create", NativeCall.errno());
            }
            return fd;
        } catch (PosixException e) {
            throw e;
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    private static void allocate(int descriptor, long bytes) throws PosixException {
        int rc;
        try {
            do {
                rc = (int) FALLOCATE.invokeExact(NativeCall.state(), descriptor, 0, 0L, bytes);
            } while (rc != 0 && NativeCall.errno() == Errno.EINTR);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
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
