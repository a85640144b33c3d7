package io.clairfs.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import java.util.zip.CRC32;

/** An ImageFolder dataset of JPEG files, the same for the same seed. */
final class DemoDataset {
    private static final int CLASSES = 10;

    /** Keeps the seeds of two datasets apart for as many files as there can be. */
    private static final long FILES_PER_SEED = 1L << 32;

    private DemoDataset() {}

    /**
     * Writes {@code files} pictures into class directories below {@code root}, with all processors.
     *
     * @param made receives the number of files written so far; called on any thread
     */
    static Content make(Path root, int files, long seed, LongConsumer made) throws IOException {
        // The encoder needs no display. Without this property it may look for one.
        System.setProperty("java.awt.headless", "true");
        for (int i = 0; i < CLASSES; i++) {
            Files.createDirectories(root.resolve(className(i)));
        }
        int threads = Runtime.getRuntime().availableProcessors();
        AtomicInteger next = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        LongAdder bytes = new LongAdder();
        LongAdder checksum = new LongAdder();
        try (ExecutorService painters = Executors.newFixedThreadPool(
                threads, Thread.ofPlatform().daemon().name("painter-", 0).factory())) {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                running.add(painters.submit(() -> {
                    for (int file = next.getAndIncrement(); file < files; file = next.getAndIncrement()) {
                        byte[] content = JpegImage.encode(seed * FILES_PER_SEED + file);
                        Files.write(root.resolve(path(file)), content);
                        bytes.add(content.length);
                        checksum.add(crc32(content));
                        made.accept(done.incrementAndGet());
                    }
                    return null;
                }));
            }
            await(running, next, files);
        }
        return new Content(files, bytes.sum(), checksum.sum());
    }

    private static long crc32(byte[] content) {
        CRC32 crc = new CRC32();
        crc.update(content);
        return crc.getValue();
    }

    private static void await(List<Future<?>> running, AtomicInteger next, int files) throws IOException {
        try {
            for (Future<?> each : running) {
                each.get();
            }
        } catch (ExecutionException e) {
            throw new DemoException("cannot make the dataset: " + e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoException("interrupted while making the dataset");
        } finally {
            next.set(files); // ends the other threads after a failure
        }
    }

    private static String className(int number) {
        return String.format(Locale.ROOT, "class_%02d", number);
    }

    private static String path(int file) {
        return className(file % CLASSES) + String.format(Locale.ROOT, "/image_%06d.jpg", file);
    }
}
