package io.clairfs.gpufeeder.feed;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.PosixException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

/** A directory that looks like a mount with a job of two samples. Its control files fail as a test wants. */
final class PretendedMount {
    static final String JOBS = "job";
    static final String STATUS = "status.json";
    static final String ORDER = "order/train/1/0.i64";
    static final String SAMPLES = "sample/train/all";

    private final Path root;

    /** The control files that were asked for, in turn. */
    final List<String> asked = new ArrayList<>();

    /** The errno with which the control file of a name fails; 0: it does not. */
    ToIntFunction<String> errno = _ -> 0;

    boolean mounted = true;
    long nowNs;

    PretendedMount(Path root) throws IOException {
        this.root = root;
        write(JOBS, "name=train seed=1\n".getBytes(UTF_8));
        write(STATUS, new byte[] {'{', '}'});
        write(
                ORDER,
                ByteBuffer.allocate(2 * Long.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(1)
                        .putLong(0)
                        .array());
        write(SAMPLES, "a/1\nb/2\n".getBytes(UTF_8));
    }

    void write(String file, byte[] content) throws IOException {
        Path path = root.resolve(".clairfs").resolve(file);
        Files.createDirectories(path.getParent());
        Files.write(path, content);
    }

    ControlReader reader() {
        return new ControlReader(root, this::read, () -> mounted, () -> nowNs);
    }

    private MemorySegment read(Path file, Arena arena) throws PosixException {
        String name = root.resolve(".clairfs").relativize(file).toString();
        asked.add(name);
        int number = errno.applyAsInt(name);
        if (number != 0) {
            throw new PosixException("open", number);
        }
        return WholeFile.read(file, arena);
    }
}
