package io.clairfs.tools.calibrate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Measures how many samples per second so many threads decode together: the preprocessing model of Lobster (ICPP 2022, section 4.1), on the
 * user's own files.
 *
 * <p>Three sizes are measured: files around the 10th, 50th and 90th percentile. They are read before the clock runs.
 */
final class DecodeSpeed {
    private static final int[] PERCENTILES = {10, 50, 90};
    private static final int FILES_OF_A_SIZE = 16;
    private static final long MOST_BYTES_OF_A_SIZE = 64L << 20;

    /** So many numbers of threads are measured one by one; then each is half as many again as the one before. */
    private static final int ONE_BY_ONE = 8;

    private final DecodeOperation operation;

    private DecodeSpeed(DecodeOperation operation) {
        this.operation = operation;
    }

    /** The number of steps of a measurement. */
    static int steps() {
        return PERCENTILES.length * threads(processors()).size();
    }

    private static int processors() {
        return Runtime.getRuntime().availableProcessors();
    }

    /** The numbers of threads to measure: up to that of the processors, and two where there is one. */
    static SortedSet<Integer> threads(int processors) {
        int most = Math.max(2, processors);
        TreeSet<Integer> threads = new TreeSet<>();
        for (int n = 1; n < most; n = n < ONE_BY_ONE ? n + 1 : n + n / 2) {
            threads.add(n);
        }
        threads.add(most);
        return threads;
    }

    /**
     * Measures.
     *
     * @return samples per second of all threads together, by size in bytes and number of threads
     * @throws IOException if the source has too few files that the operation decodes
     */
    static Map<Long, Map<Integer, Double>> measure(
            Path source, DecodeOperation operation, long stepMs, Runnable stepDone) throws IOException {
        return new DecodeSpeed(operation).measure(source, stepMs, stepDone);
    }

    private record Candidate(Path file, long bytes) {}

    private Map<Long, Map<Integer, Double>> measure(Path source, long stepMs, Runnable stepDone) throws IOException {
        List<Candidate> found = new ArrayList<>();
        for (Path file : SourceSpeed.filesWithContent(source)) {
            if (operation.takes(String.valueOf(file.getFileName()))) {
                found.add(new Candidate(file, Files.size(file)));
            }
        }
        found.sort(Comparator.comparingLong(Candidate::bytes).thenComparing(Candidate::file));
        Map<Long, Map<Integer, Double>> rates = new TreeMap<>();
        for (int percentile : PERCENTILES) {
            List<byte[]> contents = contents(source, found, percentile);
            long bytes = (long) contents.stream()
                    .mapToInt(content -> content.length)
                    .average()
                    .orElseThrow();
            Map<Integer, Double> ofSize = new TreeMap<>();
            for (int threads : threads(processors())) {
                ofSize.put(
                        threads, ThreadSweep.rounded(ThreadSweep.perSecond(() -> decoder(contents), threads, stepMs)));
                stepDone.run();
            }
            rates.put(bytes, ofSize); // sizes that are all alike are one
        }
        return rates;
    }

    /** The contents of some files around a percentile that can be decoded, at least one. */
    private List<byte[]> contents(Path source, List<Candidate> found, int percentile) throws IOException {
        int middle = found.size() * percentile / 100;
        int first = Math.clamp(middle - FILES_OF_A_SIZE / 2, 0, Math.max(0, found.size() - FILES_OF_A_SIZE));
        List<byte[]> contents = new ArrayList<>();
        DecodeOperation.SampleWork work = operation.perThread().get();
        long total = 0;
        String failure = "none has a name that ends in " + String.join(", ", operation.endings());
        for (Candidate candidate : found.subList(first, Math.min(found.size(), first + FILES_OF_A_SIZE))) {
            total += candidate.bytes;
            if (!contents.isEmpty() && total > MOST_BYTES_OF_A_SIZE) {
                break;
            }
            byte[] content = Files.readAllBytes(candidate.file);
            try {
                work.decode(content);
                contents.add(content);
            } catch (IOException | RuntimeException e) { // image readers throw what they like at a damaged file
                failure = candidate.file + ": " + e.getMessage();
            }
        }
        if (contents.isEmpty()) {
            throw new IOException("no file of " + source + " around the " + percentile
                    + "th percentile of sizes can be decoded as " + operation.name() + ": " + failure);
        }
        return contents;
    }

    private ThreadSweep.Work decoder(List<byte[]> contents) {
        DecodeOperation.SampleWork work = operation.perThread().get();
        int[] next = {ThreadLocalRandom.current().nextInt(contents.size())};
        return () -> {
            next[0] = (next[0] + 1) % contents.size();
            work.decode(contents.get(next[0]));
            return 1;
        };
    }
}
