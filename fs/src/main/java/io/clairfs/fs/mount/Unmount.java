package io.clairfs.fs.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.NativeCall;
import io.clairfs.cache.posix.NativeFunction;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.nio.file.Path;

/** Unmounts by {@code umount2(2)}, which is for root. */
final class Unmount {
    private static final int MNT_FORCE = 1;
    private static final int MNT_DETACH = 2;
    private static final int UMOUNT_NOFOLLOW = 8;
    private static final NativeFunction UMOUNT = NativeFunction.of("umount2");

    private Unmount() {}

    /** Ends the connection behind the mount at {@code point}, if it has one, and takes it out of the tree. */
    static void byForce(Path point) throws PosixException {
        unmount(point, MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW);
    }

    /** Takes the mount at {@code point} out of the tree at once, used or not, with everything mounted below it. */
    static void detach(Path point) throws PosixException {
        unmount(point, MNT_DETACH);
    }

    private static void unmount(Path point, int flags) throws PosixException {
        int rc = (int)
                UMOUNT.call(Posix.cString(point.toString().getBytes(UTF_8)).address(), flags);
        if (rc != 0) {
            throw new PosixException("umount", NativeCall.errno());
        }
    }
}
