package io.clairfs.cache.testing;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.clairfs.cache.fetch.SampleReader;
import io.clairfs.cache.source.SourceException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** What a reader of a mount would see, whose request is taken by a thread of the session. */
public final class ReadBytes {
    private ReadBytes() {}

    /** {@code length} bytes of a file from {@code offset} on, or those up to its end. Waits until the reader is told. */
    public static byte[] of(SampleReader reader, int file, long offset, int length) throws SourceException {
        CompletableFuture<byte[]> told = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> ask(reader, file, offset, length, told));
        try {
            return told.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof SourceException failure) {
                throw failure;
            }
            throw e;
        }
    }

    /** Asks on the calling thread. What the reader is told is in the answer, when it is told. */
    public static CompletableFuture<byte[]> ask(SampleReader reader, int file, long offset, int length) {
        CompletableFuture<byte[]> told = new CompletableFuture<>();
        ask(reader, file, offset, length, told);
        return told;
    }

    private static void ask(SampleReader reader, int file, long offset, int length, CompletableFuture<byte[]> told) {
        reader.read(file, offset, length, reader.timeoutMs(), new SampleReader.Asker() {
            @Override
            public void bytes(MemorySegment bytes) {
                told.complete(bytes.toArray(JAVA_BYTE));
            }

            @Override
            public void failed(Throwable reason) {
                told.completeExceptionally(reason);
            }
        });
    }
}
