package io.clairfs.fs.mount;

import io.clairfs.cache.posix.Errno;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Set;

/**
 * What a filesystem answers to the kernel. Paths are bytes as the kernel has them, beginning with a slash.
 *
 * <p>Methods run on libfuse's threads, many at once. They return 0 (or a count of bytes) on success and a negative errno on
 * failure, or throw: {@link GuardedCallbacks} turns every throwable into an errno, so that none ever reaches libfuse, where it
 * would look like success without data. Only the {@link #operations()} are registered.
 */
public interface FuseCallbacks {
    /** The operations that a filesystem can register. */
    enum Operation {
        GETATTR,
        READLINK,
        READDIR,
        OPEN,
        READ,
        WRITE,
        TRUNCATE,
        IOCTL,
        FLUSH,
        RELEASE;

        /** In lower case, as the kernel's calls are written. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The operations that this filesystem answers; libfuse has defaults for the rest. */
    Set<Operation> operations();

    int getattr(byte[] path, FileStat stat) throws IOException;

    /** Calls {@code entries} once per entry, in the order of the listing, without "." and "..". */
    int readdir(byte[] path, Filler entries) throws IOException;

    /** Fills {@code into} from {@code offset} on, as far as the file goes. Returns the bytes filled; 0 only at the end. */
    int read(byte[] path, MemorySegment into, long offset, FileHandle handle) throws IOException;

    default byte[] readlink(byte[] path) throws IOException {
        throw new AssertionError("not registered");
    }

    default int open(byte[] path, FileHandle handle) throws IOException {
        return -Errno.ENOSYS;
    }

    default int write(byte[] path, MemorySegment from, long offset, FileHandle handle) throws IOException {
        return -Errno.EROFS;
    }

    default int truncate(byte[] path, long size) throws IOException {
        return -Errno.EROFS;
    }

    default int flush(byte[] path, FileHandle handle) throws IOException {
        return -Errno.ENOSYS;
    }

    default int release(byte[] path, FileHandle handle) throws IOException {
        return 0;
    }

    /** Takes the entries of a directory. */
    @FunctionalInterface
    interface Filler {
        /**
         * Takes one entry.
         *
         * @param type the type bits of {@code st_mode}, which save a tree walk the look-up of each name; 0 if not known
         */
        void add(byte[] name, int type);

        /** Takes an entry whose type is not known. */
        default void add(byte[] name) {
            add(name, 0);
        }
    }
}
