package io.clairfs.fs.mount;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.NativeCall;
import io.clairfs.cache.posix.Posix;
import io.clairfs.fs.mount.FuseCallbacks.Operation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import jnr.ffi.Pointer;
import jnr.ffi.Struct;
import ru.serce.jnrfuse.struct.FuseOperations;

/**
 * The functions that libfuse calls, each wrapped once: whatever a callback throws becomes an errno.
 *
 * <p>jnr-fuse's own callbacks decode paths to strings, which cannot carry every name, and attach the calling thread to the
 * virtual machine anew each time. So the operations table is jnr-fuse's and the functions in it are upcalls of
 * java.lang.foreign, which see bytes and keep the thread attached.
 */
@SuppressWarnings({"restricted", "unused"}) // the methods are bound by name
final class GuardedCallbacks {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle FILL =
            LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));

    private final FuseCallbacks callbacks;
    private final ErrnoTable errnos;
    private final Arena arena;
    private final LongAdder[] requests =
            Stream.generate(LongAdder::new).limit(Operation.values().length).toArray(LongAdder[]::new);
    private final CountDownLatch initialized = new CountDownLatch(1);
    private final FuseOperations operations = new FuseOperations(jnr.ffi.Runtime.getSystemRuntime());

    GuardedCallbacks(FuseCallbacks callbacks, ErrnoTable errnos, Arena arena) {
        this.callbacks = callbacks;
        this.errnos = errnos;
        this.arena = arena;
        register("init", operations.init.offset(), FunctionDescriptor.of(ADDRESS, ADDRESS));
        for (Operation operation : callbacks.operations()) {
            register(operation);
        }
    }

    /** The table for {@code fuse_main}. */
    FuseOperations operations() {
        return operations;
    }

    /** Opens when the kernel has accepted the session. */
    CountDownLatch initialized() {
        return initialized;
    }

    /** How often the kernel has requested this, answered or not. */
    long requests(Operation operation) {
        return requests[operation.ordinal()].sum();
    }

    private void register(Operation operation) {
        switch (operation) {
            case GETATTR -> register("getattr", operations.getattr.offset(), of(ADDRESS, ADDRESS));
            case READLINK -> register("readlink", operations.readlink.offset(), of(ADDRESS, ADDRESS, JAVA_LONG));
            case READDIR ->
                register("readdir", operations.readdir.offset(), of(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));
            case OPEN -> register("open", operations.open.offset(), of(ADDRESS, ADDRESS));
            case READ ->
                register("read", operations.read.offset(), of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS));
            case WRITE ->
                register("write", operations.write.offset(), of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS));
            case IOCTL -> throw new IllegalArgumentException("libfuse answers it");
            case TRUNCATE -> register("truncate", operations.truncate.offset(), of(ADDRESS, JAVA_LONG));
            case FLUSH -> register("flush", operations.flush.offset(), of(ADDRESS, ADDRESS));
            case RELEASE -> register("release", operations.release.offset(), of(ADDRESS, ADDRESS));
        }
    }

    private static FunctionDescriptor of(MemoryLayout... arguments) {
        return FunctionDescriptor.of(JAVA_INT, arguments);
    }

    private void register(String method, long offset, FunctionDescriptor descriptor) {
        MethodType type = descriptor.toMethodType();
        try {
            MethodHandle handle = MethodHandles.lookup().bind(this, method, type);
            Pointer table = Struct.getMemory(operations);
            table.putAddress(
                    offset, LINKER.upcallStub(handle, descriptor, arena).address());
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("callback " + method, e);
        }
    }

    private MemorySegment init(MemorySegment connection) {
        initialized.countDown();
        return MemorySegment.NULL;
    }

    private int getattr(MemorySegment path, MemorySegment stat) {
        return guard(Operation.GETATTR, path, p -> callbacks.getattr(p, new FileStat(stat)));
    }

    private int readlink(MemorySegment path, MemorySegment buffer, long size) {
        return guard(Operation.READLINK, path, p -> {
            byte[] target = callbacks.readlink(p);
            int length = (int) Math.min(target.length, size - 1);
            MemorySegment out = buffer.reinterpret(size);
            MemorySegment.copy(target, 0, out, JAVA_BYTE, 0, length);
            out.set(JAVA_BYTE, length, (byte) 0);
            return 0;
        });
    }

    private int readdir(
            MemorySegment path, MemorySegment buffer, MemorySegment filler, long offset, MemorySegment info) {
        return guard(Operation.READDIR, path, p -> {
            try (Arena call = Arena.ofConfined()) {
                FileStat stat = FileStat.in(call);
                FuseCallbacks.Filler entries = (name, type) -> fill(filler, buffer, name, type, stat);
                entries.add(new byte[] {'.'}, FileStatus.DIRECTORY);
                entries.add(new byte[] {'.', '.'}, FileStatus.DIRECTORY);
                return callbacks.readdir(p, entries);
            }
        });
    }

    private int open(MemorySegment path, MemorySegment info) {
        return guard(Operation.OPEN, path, p -> callbacks.open(p, handle(info)));
    }

    private int read(MemorySegment path, MemorySegment buffer, long size, long offset, MemorySegment info) {
        return guard(Operation.READ, path, p -> callbacks.read(p, buffer.reinterpret(size), offset, handle(info)));
    }

    private int write(MemorySegment path, MemorySegment buffer, long size, long offset, MemorySegment info) {
        return guard(Operation.WRITE, path, p -> callbacks.write(p, buffer.reinterpret(size), offset, handle(info)));
    }

    private int truncate(MemorySegment path, long size) {
        return guard(Operation.TRUNCATE, path, p -> callbacks.truncate(p, size));
    }

    private int flush(MemorySegment path, MemorySegment info) {
        return guard(Operation.FLUSH, path, p -> callbacks.flush(p, handle(info)));
    }

    private int release(MemorySegment path, MemorySegment info) {
        return guard(Operation.RELEASE, path, p -> callbacks.release(p, handle(info)));
    }

    @FunctionalInterface
    private interface Body {
        int run(byte[] path) throws IOException;
    }

    private int guard(Operation operation, MemorySegment path, Body body) {
        byte[] bytes = {};
        try {
            requests[operation.ordinal()].increment();
            bytes = bytes(path);
            return body.run(bytes);
        } catch (Throwable t) {
            return errnos.negative(operation.toString(), bytes, t);
        }
    }

    private static byte[] bytes(MemorySegment path) {
        if (path.address() == 0) {
            return new byte[0];
        }
        MemorySegment text = path.reinterpret(Posix.PATH_MAX * 2L);
        int length = 0;
        while (text.get(JAVA_BYTE, length) != 0) {
            length++;
        }
        return text.asSlice(0, length).toArray(JAVA_BYTE);
    }

    private static FileHandle handle(MemorySegment info) {
        return new FileHandle(info.reinterpret(64));
    }

    private static void fill(MemorySegment filler, MemorySegment buffer, byte[] name, int type, FileStat stat) {
        stat.setType(type);
        try {
            int full = (int) FILL.invokeExact(filler, buffer, Posix.cString(name), stat.memory(), 0L);
            if (full != 0) {
                throw new OutOfMemoryError("libfuse has no memory for a directory");
            }
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }
}
