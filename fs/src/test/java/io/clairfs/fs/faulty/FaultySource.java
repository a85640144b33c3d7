package io.clairfs.fs.faulty;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.PosixException;
import io.clairfs.fs.mount.FileHandle;
import io.clairfs.fs.mount.FileStat;
import io.clairfs.fs.mount.FuseCallbacks;
import io.clairfs.fs.slow.SlowSource;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A {@link SlowSource} whose requests fail and whose files change. Nothing of it is kept by the kernel, so that faults and changes are seen at
 * once.
 */
final class FaultySource implements FuseCallbacks {
    static final String SUBTYPE = "clairfs-faulty";

    static final List<String> OPTIONS = List.of(
            "ro",
            "direct_io",
            "entry_timeout=0",
            "negative_timeout=0",
            "attr_timeout=0",
            "fsname=faulty-source",
            "subtype=" + SUBTYPE);

    private final SlowSource base;
    private final Faults faults;
    private final SourceFiles files;

    FaultySource(SlowSource base, Faults faults, SourceFiles files) {
        this.base = base;
        this.faults = faults;
        this.files = files;
    }

    @Override
    public Set<Operation> operations() {
        return base.operations();
    }

    @Override
    public int getattr(byte[] path, FileStat stat) throws PosixException {
        String file = text(path);
        faults.strike(Request.STATUS, file);
        int answer = base.getattr(path, stat);
        SourceFile changed = files.changed(file);
        if (answer == 0 && changed != null) {
            stat.change(changed.now().size(), changed.now().mtimeNs());
        }
        return answer;
    }

    @Override
    public byte[] readlink(byte[] path) throws PosixException {
        faults.strike(Request.STATUS, text(path));
        return base.readlink(path);
    }

    @Override
    public int readdir(byte[] path, Filler entries) throws PosixException {
        faults.strike(Request.LIST, text(path));
        return base.readdir(path, entries);
    }

    @Override
    public int open(byte[] path, FileHandle handle) throws PosixException {
        faults.strike(Request.OPEN, text(path));
        return base.open(path, handle);
    }

    @Override
    public int read(byte[] path, MemorySegment into, long offset, FileHandle handle) throws PosixException {
        String file = text(path);
        boolean cut = faults.strike(Request.READ, file);
        MemorySegment asked = cut ? into.asSlice(0, Math.max(1, into.byteSize() * 2 / 3)) : into;
        return read(path, asked, offset, handle, files.changed(file));
    }

    /** Each request is answered from one content, whatever happens to the file meanwhile. */
    private int read(byte[] path, MemorySegment into, long offset, FileHandle handle, @Nullable SourceFile changed)
            throws PosixException {
        if (changed == null) {
            return base.read(path, into, offset, handle);
        }
        int length = (int) Math.clamp(changed.readable() - offset, 0, into.byteSize());
        if (length == 0) {
            return 0;
        }
        MemorySegment target = into.asSlice(0, length);
        FileContent content = changed.now();
        if (content.seed().isEmpty()) {
            return base.read(path, target, offset, handle);
        }
        FileContent.fill(content.seed().getAsLong(), offset, target);
        base.charge(length);
        return length;
    }

    @Override
    public int release(byte[] path, FileHandle handle) {
        return base.release(path, handle);
    }

    private static String text(byte[] path) {
        return path.length <= 1 ? "" : new String(path, 1, path.length - 1, UTF_8);
    }
}
