package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What random tests did and found, for people and for {@code ./verify}. */
final class StressReport {
    private static final int MOST_FAILURES = 20;

    private final Map<String, Long> faults = new TreeMap<>();
    private final Map<String, Long> noticed = new TreeMap<>();
    private final Map<String, Long> errnos = new TreeMap<>();
    private final Set<String> impossible = new TreeSet<>();
    private final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();
    private final long startedNs = System.nanoTime();
    private long reads;
    private long bytes;
    private long mismatches;
    private long hangs;
    private long slow;
    private double longestSeconds;
    private int left;
    private final StringBuilder rounds = new StringBuilder();

    synchronized void round(String line) {
        rounds.append(line).append('\n');
        System.out.println(line);
    }

    /** So many faults of a kind were injected. */
    synchronized void fault(String kind, long count) {
        faults.merge(kind, count, Long::sum);
    }

    /** The same of one, if it was. */
    void fault(String kind, boolean injected) {
        if (injected) {
            fault(kind, 1);
        }
    }

    /** This machine does not allow it. */
    synchronized void impossible(String kind) {
        impossible.add(kind);
    }

    /** So many times a daemon noticed something of what was done to it; what one noticed that was ended is not in here. */
    synchronized void noticed(String what, long count) {
        noticed.merge(what, count, Long::sum);
    }

    /** A read brought what it should. */
    synchronized void right(long byteCount, double seconds) {
        reads++;
        bytes += byteCount;
        longestSeconds = Math.max(longestSeconds, seconds);
    }

    /** A read failed, and it may. */
    synchronized void failedAsAllowed(int errno, double seconds) {
        reads++;
        errnos.merge("errno " + errno, 1L, Long::sum);
        longestSeconds = Math.max(longestSeconds, seconds);
    }

    /** A read timed out although nothing that was injected explains it: an overloaded machine, if it is rare. */
    synchronized long slow() {
        return ++slow;
    }

    synchronized void mismatch(String what) {
        mismatches++;
        failure("MISMATCH: " + what);
    }

    synchronized void hang(String what) {
        hangs++;
        failure("HANG: " + what);
    }

    /** Something else that must not be. */
    synchronized void failure(String what) {
        if (failures.size() < MOST_FAILURES) {
            failures.add(what);
            System.out.println(what);
        }
    }

    synchronized void leftMounted(List<Path> points) {
        left += points.size();
        if (!points.isEmpty()) {
            failure("LEFT MOUNTED: " + points);
        }
    }

    boolean failed() {
        return !failures.isEmpty();
    }

    String failures() {
        return String.join("\n", failures);
    }

    synchronized long reads() {
        return reads;
    }

    synchronized double longestSeconds() {
        return longestSeconds;
    }

    synchronized String text() {
        StringBuilder text = new StringBuilder();
        Duration took = Duration.ofNanos(System.nanoTime() - startedNs);
        line(text, "time", took.toSeconds() + " s");
        faults.forEach((kind, count) -> line(text, "injected: " + kind, count));
        impossible.forEach(kind -> line(text, "not possible here: " + kind, ""));
        noticed.forEach((what, count) -> line(text, "noticed: " + what, count));
        line(text, "reads checked", reads);
        line(text, "bytes compared", bytes);
        errnos.forEach((errno, count) -> line(text, "failed as allowed: " + errno, count));
        line(text, "mismatches", mismatches);
        line(text, "hangs", hangs);
        line(text, "longest read", String.format(Locale.ROOT, "%.2f s", longestSeconds));
        line(text, "timed out without a fault", slow);
        line(text, "leftover mounts", left);
        return text + rounds.toString();
    }

    private static void line(StringBuilder text, String name, Object value) {
        text.append(String.format(Locale.ROOT, "%-36s %s%n", name, value));
    }

    void write(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, text());
    }
}
