package io.clairfs.fs.slow;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.fs.mount.FileHandle;
import io.clairfs.fs.mount.FileStat;
import io.clairfs.fs.mount.FuseCallbacks;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** A filesystem whose files fail, each in its own way, for root too. */
final class FailingFiles implements FuseCallbacks {
    private static final int SIZE = 1000;
    private static final Map<String, Integer> FAILS_TO_OPEN = Map.of("/denied", Errno.EACCES, "/stale", Errno.ESTALE);
    private static final Map<String, Integer> FAILS_TO_READ = Map.of("/broken", Errno.EIO);

    @Override
    public Set<Operation> operations() {
        return EnumSet.of(Operation.GETATTR, Operation.READDIR, Operation.OPEN, Operation.READ);
    }

    private static String text(byte[] path) {
        return new String(path, StandardCharsets.UTF_8);
    }

    @Override
    public int getattr(byte[] path, FileStat stat) {
        String name = text(path);
        if (name.equals("/")) {
            stat.set(FileStatus.DIRECTORY | 0555, 0, 0, 0, 0);
            return 0;
        }
        if (!FAILS_TO_OPEN.containsKey(name) && !FAILS_TO_READ.containsKey(name)) {
            return -Errno.ENOENT;
        }
        stat.set(FileStatus.REGULAR | 0444, 0, 0, SIZE, 0);
        return 0;
    }

    @Override
    public int readdir(byte[] path, Filler entries) {
        return 0;
    }

    @Override
    public int open(byte[] path, FileHandle handle) {
        return -FAILS_TO_OPEN.getOrDefault(text(path), 0);
    }

    @Override
    public int read(byte[] path, MemorySegment into, long offset, FileHandle handle) {
        return -FAILS_TO_READ.getOrDefault(text(path), 0);
    }
}
