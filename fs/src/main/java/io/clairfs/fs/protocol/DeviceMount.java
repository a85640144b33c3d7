package io.clairfs.fs.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.NativeCall;
import io.clairfs.cache.posix.NativeFunction;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.fs.mount.MountException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * Mounts a session. Root uses {@code mount(2)}; where that is refused, and for other users, fusermount mounts.
 */
final class DeviceMount {
    private static final byte[] DEVICE = "/dev/fuse".getBytes(UTF_8);
    private static final NativeFunction MOUNT = NativeFunction.of("mount");

    private DeviceMount() {}

    /** Mounts at {@code point}. Returns the session's descriptor; the caller closes it. */
    static int mount(Path point, MountOptions options) throws MountException {
        if (ProcessIdentity.userId() != 0) {
            return HelperMount.mount(point, options.helper());
        }
        try {
            return mountOurselves(point, options);
        } catch (PosixException e) {
            if (e.errno() != Errno.EPERM) {
                throw new MountException("cannot mount at " + point + " (" + e.getMessage() + ")");
            }
            return HelperMount.mount(point, options.helper());
        }
    }

    private static int mountOurselves(Path point, MountOptions options) throws PosixException {
        int device = Posix.openAt(Posix.AT_FDCWD, DEVICE, Posix.O_RDWR);
        try {
            mount(point, options, device);
            return device;
        } catch (PosixException | RuntimeException | Error e) {
            Posix.close(device);
            throw e;
        }
    }

    private static void mount(Path point, MountOptions options, int device) throws PosixException {
        int rc;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocateFrom(options.source());
            MemorySegment target = arena.allocateFrom(point.toString());
            MemorySegment type = arena.allocateFrom(options.type());
            MemorySegment data = arena.allocateFrom(options.data(device));
            rc = (int) MOUNT.call(source.address(), target.address(), type.address(), options.flags(), data.address());
        }
        if (rc != 0) {
            throw new PosixException("mount", NativeCall.errno());
        }
    }
}
