package io.clairfs.tools.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.PythonText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A look at a source of some seconds at most.
 *
 * @param isWhole whether all of it was listed in that time
 * @param directories found, the source itself included
 * @param files regular ones that were found
 * @param listedPerSecond entries per second, by one thread
 * @param filesRead files that were read to learn the next two; 0 when none could be
 * @param latencySeconds from the opening of a file to its first byte, median
 * @param bytesPerSecond by a few threads at once, over files of different directories
 * @param trouble why there is no more; null when nothing was wrong
 */
public record SourceSurvey(
        boolean isWhole,
        long directories,
        long files,
        double listedPerSecond,
        int filesRead,
        double latencySeconds,
        double bytesPerSecond,
        @Nullable String trouble) {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int FIRST_BYTES = 16;
    private static final int READERS = 8;
    private static final int MOST_FILES = 512;
    private static final int PIECE = 1 << 20;
    private static final long MOST_OF_A_FILE = 16 << 20;

    /** How long an answer may take beyond the time for looking, before the source counts as hanging. */
    private static final long PATIENCE_MS = 10_000;

    /** A survey that came to nothing. */
    public static SourceSurvey failed(String trouble) {
        return new SourceSurvey(false, 0, 0, 0, 0, 0, 0, trouble);
    }

    /** Looks at {@code source} for {@code time} of listing and as much of reading. */
    public static SourceSurvey of(Path source, Duration time) {
        CompletableFuture<SourceSurvey> looked = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("survey").start(() -> {
            try {
                looked.complete(look(source, time));
            } catch (IOException | RuntimeException e) {
                looked.complete(failed(String.valueOf(e.getMessage())));
            }
        });
        try {
            return looked.get(2 * time.toMillis() + PATIENCE_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return failed("did not answer within " + (2 * time.toMillis() + PATIENCE_MS) / 1000 + " s");
        } catch (ExecutionException e) {
            return failed(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failed("interrupted");
        }
    }

    private static SourceSurvey look(Path source, Duration time) throws IOException {
        if (!Files.isDirectory(source)) {
            return failed(Files.exists(source) ? "is not a directory" : "does not exist");
        }
        Listed listed = new Listed(System.nanoTime() + time.toNanos());
        long start = System.nanoTime();
        Files.walkFileTree(source, listed);
        double seconds = Math.max(1, System.nanoTime() - start) / NANOS_PER_SECOND;
        double latency = 0;
        double rate = 0;
        int read = 0;
        if (!listed.some.isEmpty()) {
            latency = latency(listed.some);
            Reading reading = new Reading(listed.some, System.nanoTime() + time.toNanos());
            rate = reading.bytesPerSecond();
            read = reading.done();
        }
        return new SourceSurvey(
                listed.whole,
                listed.directories,
                listed.files,
                (listed.directories + listed.files) / seconds,
                read,
                latency,
                rate,
                listed.trouble);
    }

    /** Counts, and keeps files from all over what it saw. */
    private static final class Listed extends SimpleFileVisitor<Path> {
        private final long endNs;
        private final List<Path> some = new ArrayList<>();
        private boolean whole = true;
        private long directories;
        private long files;
        private @Nullable String trouble;

        private Listed(long endNs) {
            this.endNs = endNs;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            directories++;
            return next();
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (attributes.isRegularFile()) {
                files++;
                if (attributes.size() > 0 && some.size() < MOST_FILES) {
                    some.add(file);
                }
            }
            return next();
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException thrown) {
            if (trouble == null) {
                trouble = directories == 0
                        ? reason(thrown)
                        : PythonText.show(file.toString().getBytes(UTF_8)) + " " + reason(thrown);
            }
            return next();
        }

        private static String reason(IOException thrown) {
            return thrown instanceof AccessDeniedException
                    ? "may not be listed by this user"
                    : "cannot be listed (" + thrown.getMessage() + ")";
        }

        private FileVisitResult next() {
            whole = System.nanoTime() < endNs;
            return whole ? FileVisitResult.CONTINUE : FileVisitResult.TERMINATE;
        }
    }

    /** Seconds to the first byte, median over those of some files that can be read; 0 if none can. */
    static double latency(List<Path> some) {
        int number = Math.min(FIRST_BYTES, some.size());
        long[] took = new long[number];
        int answered = 0;
        ByteBuffer first = ByteBuffer.allocateDirect(1);
        for (int i = 0; i < number; i++) {
            long start = System.nanoTime();
            try (FileChannel file = FileChannel.open(some.get(i * some.size() / number))) {
                first.clear();
                int _ = file.read(first);
                took[answered] = System.nanoTime() - start;
                answered++;
            } catch (IOException unreadable) {
                assert unreadable != null : "the others may be readable";
            }
        }
        Arrays.sort(took, 0, answered);
        return answered == 0 ? 0 : took[answered / 2] / NANOS_PER_SECOND;
    }

    /** Reads files with a few threads; passes over those that cannot be read. */
    static final class Reading {
        private final List<Path> some;
        private final long endNs;
        private final AtomicInteger next = new AtomicInteger();
        private final AtomicInteger done = new AtomicInteger();
        private final AtomicLong bytes = new AtomicLong();

        Reading(List<Path> some, long endNs) {
            this.some = some;
            this.endNs = endNs;
        }

        double bytesPerSecond() throws IOException {
            long start = System.nanoTime();
            List<Thread> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                readers.add(Thread.ofPlatform().daemon().name("survey-" + i).start(this::read));
            }
            try {
                for (Thread reader : readers) {
                    reader.join();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
            return bytes.get() * NANOS_PER_SECOND / Math.max(1, System.nanoTime() - start);
        }

        /** Files that were read. */
        int done() {
            return done.get();
        }

        private void read() {
            ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
            do { // each reader looks at a file, however late it starts
                int number = next.getAndIncrement();
                if (number >= some.size()) {
                    return;
                }
                try (FileChannel file = FileChannel.open(some.get(number))) {
                    long at = 0;
                    int n;
                    do {
                        piece.clear();
                        n = file.read(piece);
                        at += Math.max(0, n);
                        bytes.addAndGet(Math.max(0, n));
                    } while (n > 0 && at < MOST_OF_A_FILE && System.nanoTime() < endNs);
                    done.incrementAndGet();
                } catch (IOException unreadable) {
                    assert unreadable != null : "the others may be readable";
                }
            } while (System.nanoTime() < endNs);
        }
    }
}
