package io.clairfs.gpufeeder.feed;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.DiskCalls;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Tells the mount every second how a feeder does, by its control file {@code report}, for {@code clairfs status}. On a thread of its own: nobody waits for
 * a mount that does not answer, and a mount that takes no such line costs nothing but the figures.
 */
final class FeedReporter implements AutoCloseable {
    private static final long EVERY_MS = 1_000;

    /** The mount's process may be being started again. Longer than that takes. */
    private static final long PATIENCE_S = 60;

    private final byte[] file;
    private final Supplier<String> line;
    private final Patience patience;
    private final Thread thread;

    /** One that tells nothing by itself. */
    FeedReporter(Path file, Supplier<String> line, LongSupplier clockNs) {
        this.file = file.toString().getBytes(UTF_8);
        this.line = line;
        patience = new Patience(PATIENCE_S, clockNs);
        thread = Thread.ofPlatform().daemon().name("feed-report").unstarted(this::run);
    }

    static FeedReporter start(Path file, Supplier<String> line) {
        FeedReporter reporter = new FeedReporter(file, line, System::nanoTime);
        reporter.thread.start();
        return reporter;
    }

    private void run() {
        while (tell()) {
            try {
                TimeUnit.MILLISECONDS.sleep(EVERY_MS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /**
     * Tells it once. Returns whether to go on: not after a refusal, for the job is gone or the rank is not of this node, and a line a second in the mount's
     * errors helps nobody; nor when the mount has not answered for long.
     */
    boolean tell() {
        try {
            write(line.get().getBytes(UTF_8));
            patience.renew();
            return true;
        } catch (PosixException e) {
            return e.errno() != Errno.EINVAL && patience.lasts();
        }
    }

    private void write(byte[] text) throws PosixException {
        int fd = Posix.openAt(Posix.AT_FDCWD, file, Posix.O_WRONLY);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocateFrom(JAVA_BYTE, text);
            long _ = DiskCalls.pwrite(fd, message, 0); // it is taken as a whole, or not at all
        } finally {
            Posix.close(fd);
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
