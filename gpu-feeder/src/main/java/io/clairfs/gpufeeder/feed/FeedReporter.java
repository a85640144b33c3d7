package io.clairfs.gpufeeder.feed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Tells the mount every second how a feeder does, by its control file {@code report}, for {@code clairfs status}. On a thread of its own: nobody waits for
 * a mount that does not answer, and a mount that takes no such line costs nothing but the figures.
 */
final class FeedReporter implements AutoCloseable {
    private static final long EVERY_MS = 1_000;

    private final Path file;
    private final Supplier<String> line;
    private final Thread thread;

    private FeedReporter(Path file, Supplier<String> line) {
        this.file = file;
        this.line = line;
        thread = Thread.ofPlatform().daemon().name("feed-report").unstarted(this::run);
    }

    static FeedReporter start(Path file, Supplier<String> line) {
        FeedReporter reporter = new FeedReporter(file, line);
        reporter.thread.start();
        return reporter;
    }

    private void run() {
        while (true) {
            try {
                Files.write(file, line.get().getBytes(UTF_8), StandardOpenOption.WRITE);
            } catch (IOException e) {
                return; // the mount or its job is gone, or the rank is not of this node: no line a second in its errors
            }
            try {
                TimeUnit.MILLISECONDS.sleep(EVERY_MS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
