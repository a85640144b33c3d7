package io.clairfs.gpufeeder.feed;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.NativeCall;
import io.clairfs.cache.posix.NativeFunction;
import io.clairfs.cache.posix.NativeMemory;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Brings files into slots, for one thread. A payload is read straight into its slot, its header beside it by the same call; a content is read into a buffer
 * of this thread and decoded from there.
 */
final class SampleLoad implements AutoCloseable {
    private static final long LARGEST_FILE = 1L << 30;

    private static final NativeFunction PREADV = NativeFunction.of("preadv");

    private final byte[] root;
    private final SampleDecoder decoder;
    private final FeedFigures figures;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment pieces = arena.allocate(2L * MessageIo.IOVEC_BYTES, 8);
    private MemorySegment buffer;

    /** {@code root} is put before every path. The thread that makes it uses and closes it. */
    SampleLoad(byte[] root, Decoding decoding, FeedFigures figures) {
        this.root = root.clone();
        this.figures = figures;
        decoder = decoding.open();
        buffer = NativeMemory.allocate(1 << 16);
    }

    /**
     * Brings a file into its place.
     *
     * @param key of this sample in this epoch
     */
    void load(byte[] path, long key, MemorySegment place) throws IOException {
        long start = System.nanoTime();
        int fd = Posix.openAt(Posix.AT_FDCWD, joined(path), Posix.O_RDONLY);
        long bytes;
        long read;
        try {
            bytes = Posix.stat(fd).size();
            switch (decoder) {
                case SampleDecoder.Payload payload -> readPayload(payload, fd, bytes, place);
                case SampleDecoder.Content _ -> readContent(fd, bytes);
            }
            read = System.nanoTime();
        } finally {
            Posix.close(fd);
        }
        figures.loaded(bytes, read - start);
        if (decoder instanceof SampleDecoder.Content content) {
            content.decode(buffer.asSlice(0, bytes), key, place);
            figures.decoded(System.nanoTime() - read);
        }
    }

    private byte[] joined(byte[] path) {
        byte[] whole = java.util.Arrays.copyOf(root, root.length + 1 + path.length);
        whole[root.length] = '/';
        System.arraycopy(path, 0, whole, root.length + 1, path.length);
        return whole;
    }

    private void readPayload(SampleDecoder.Payload payload, int fd, long bytes, MemorySegment place)
            throws IOException {
        int header = payload.headerBytes();
        reserve(header);
        long headerRead = Math.min(header, bytes);
        long wanted = Math.min(header + place.byteSize(), bytes);
        MessageIo.piece(pieces, 0, buffer.address(), header);
        MessageIo.piece(pieces, 1, place.address(), place.byteSize());
        long first = preadv(fd);
        for (long read = first; read < wanted; ) {
            MemorySegment rest = read < headerRead
                    ? buffer.asSlice(read, headerRead - read)
                    : place.asSlice(read - header, wanted - read);
            read += some(Posix.pread(fd, rest, read), read, wanted);
        }
        payload.check(buffer.asSlice(0, headerRead), bytes);
    }

    private long preadv(int fd) throws PosixException {
        while (true) {
            long n = PREADV.call(fd, pieces.address(), 2, 0);
            if (n >= 0) {
                return n;
            }
            if (NativeCall.errno() != Errno.EINTR) {
                throw new PosixException("read", NativeCall.errno());
            }
        }
    }

    private void readContent(int fd, long bytes) throws IOException {
        if (bytes > LARGEST_FILE) {
            throw new BadSampleException("it has " + bytes + " bytes; at most " + LARGEST_FILE + " are decoded");
        }
        reserve(bytes);
        for (long read = 0; read < bytes; ) {
            read += some(Posix.pread(fd, buffer.asSlice(read, bytes - read), read), read, bytes);
        }
    }

    private static long some(long read, long before, long expected) throws BadSampleException {
        if (read == 0) {
            throw new BadSampleException("it ended after " + before + " of " + expected + " bytes while it was read");
        }
        return read;
    }

    private void reserve(long bytes) {
        if (buffer.byteSize() < bytes) {
            MemorySegment larger = NativeMemory.allocate(Math.max(bytes, 2 * buffer.byteSize()));
            NativeMemory.free(buffer);
            buffer = larger;
        }
    }

    @Override
    public void close() {
        decoder.close();
        NativeMemory.free(buffer);
        arena.close();
    }
}
