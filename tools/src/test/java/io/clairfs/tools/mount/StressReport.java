package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** The actions and findings of random tests, for people and for {@code ./verify}. */
final class StressReport {
    private static final int MOST_FAILURES = 20;

    /** The number of last steps that a failure prints. */
    private static final int LATELY = 30;

    private static final double NANOS_PER_SECOND = 1e9;
    private static final long MOST_SLOW = 3;
    private static final long STALL_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long BETWEEN_STALLS_NS = TimeUnit.MINUTES.toNanos(10);

    private final Map<String, Long> faults = new TreeMap<>();
    private final Map<Object, Map<String, Long>> counted = new HashMap<>();
    private final Map<Long, Asked> asked = new HashMap<>();
    private final Map<String, Took> took = new TreeMap<>();
    private final ArrayDeque<String> lately = new ArrayDeque<>();
    private final Map<String, Long> noticed = new TreeMap<>();
    private final Map<String, Long> errnos = new TreeMap<>();
    private final Set<String> impossible = new TreeSet<>();
    private final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();
    private final long startedNs = System.nanoTime();
    private long reads;
    private long bytes;
    private long compared;
    private long comparedBytes;
    private long mismatches;
    private long hangs;
    private long slow;
    private long stalledNs;
    private double longestSeconds;
    private int left;
    private final StringBuilder rounds = new StringBuilder();

    /**
     * Counts of a daemon's reads.
     *
     * @param opened files opened
     * @param upcalls opened files for whose bytes the kernel sent a request
     * @param requests requests for bytes
     */
    record Asked(long opened, long upcalls, long requests) {}

    synchronized void round(String line) {
        rounds.append(line).append('\n');
        System.out.println(line);
    }

    /** Counts {@code count} injected faults of a kind. */
    synchronized void fault(String kind, long count) {
        faults.merge(kind, count, Long::sum);
    }

    /** Sets the counts of {@code somebody} since its beginning. */
    synchronized void counted(Object somebody, String prefix, Map<String, Long> counts) {
        Map<String, Long> named = new TreeMap<>();
        counts.forEach((kind, count) -> named.put(prefix + kind, count));
        counted.put(somebody, named);
    }

    /** Sets the counts of a daemon's reads since its beginning. */
    synchronized void asked(long daemon, Asked until) {
        asked.put(daemon, until);
    }

    /** The strikes of all faults by kind. */
    synchronized Map<String, Long> faults() {
        Map<String, Long> all = new TreeMap<>(faults);
        counted.values().forEach(each -> each.forEach((kind, count) -> all.merge(kind, count, Long::sum)));
        return all;
    }

    /** Counts one fault, if it was injected. */
    void fault(String kind, boolean injected) {
        if (injected) {
            fault(kind, 1);
        }
    }

    /** The number of steps of a kind and their total time. */
    private record Took(int times, double seconds) {}

    /** Records a finished step. */
    synchronized void did(int step, String what, long startNs, long endNs) {
        double seconds = took(what, startNs, endNs);
        lately.add(String.format(
                Locale.ROOT,
                "step %d at %.2f s: %s for %.2f s",
                step,
                (startNs - startedNs) / NANOS_PER_SECOND,
                what,
                seconds));
        if (lately.size() > LATELY) {
            lately.remove();
        }
    }

    /** Adds the time of a step or of a part of one. Returns it in seconds. */
    synchronized double took(String what, long startNs, long endNs) {
        double seconds = (endNs - startNs) / NANOS_PER_SECOND;
        Took before = took.getOrDefault(what, new Took(0, 0));
        took.put(what, new Took(before.times() + 1, before.seconds() + seconds));
        return seconds;
    }

    /** Records that this machine does not allow a kind of fault. */
    synchronized void impossible(String kind) {
        impossible.add(kind);
    }

    /** Counts the faults that a daemon noticed. Those of ended daemons are not counted. */
    synchronized void noticed(String what, long count) {
        noticed.merge(what, count, Long::sum);
    }

    /** Records a right read. */
    synchronized void right(long byteCount, double seconds) {
        reads++;
        bytes += byteCount;
        longestSeconds = Math.max(longestSeconds, seconds);
    }

    /** Records {@code count} right reads of a crowd. The longest call may be one that failed. */
    synchronized void compared(long count, long byteCount, double seconds) {
        compared += count;
        comparedBytes += byteCount;
        longestSeconds = Math.max(longestSeconds, seconds);
    }

    /** Records a failed read whose error is allowed. */
    synchronized void failedAsAllowed(int errno, double seconds) {
        errnos.merge("errno " + errno, 1L, Long::sum);
        longestSeconds = Math.max(longestSeconds, seconds);
    }

    /**
     * Records a read that timed out although no injected fault explains it. If this is rare, the machine was overloaded. Reads that time
     * out at about the same time count once. Returns whether it is rare.
     */
    synchronized boolean stalled(long endNs) {
        if (slow == 0 || Math.abs(endNs - stalledNs) > STALL_NS) {
            slow++;
            stalledNs = endNs;
        }
        return slow <= MOST_SLOW + (System.nanoTime() - startedNs) / BETWEEN_STALLS_NS;
    }

    /** Whether a read that ended at this time may have waited together with one that {@link #stalled}. */
    synchronized boolean isStalled(long endNs) {
        return slow > 0 && Math.abs(endNs - stalledNs) <= STALL_NS;
    }

    synchronized void mismatch(String what) {
        mismatches++;
        failure("MISMATCH: " + what);
    }

    synchronized void hang(String what) {
        hangs++;
        failure("HANG: " + what);
    }

    /** Prints something that is allowed but notable. */
    synchronized void noted(String what) {
        double at = (System.nanoTime() - startedNs) / NANOS_PER_SECOND;
        System.out.printf(Locale.ROOT, "at %.2f s: %s%n", at, what);
    }

    /** Records any other failure. */
    synchronized void failure(String what) {
        if (failures.isEmpty()) {
            lately.forEach(System.out::println);
        }
        if (failures.size() < MOST_FAILURES) {
            double at = (System.nanoTime() - startedNs) / NANOS_PER_SECOND;
            System.out.printf(Locale.ROOT, "at %.2f s: ", at);
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

    /** The number of right reads. */
    synchronized long reads() {
        return reads + compared;
    }

    /** The progress, in one line. */
    synchronized String progress() {
        long seconds =
                Math.max(1, Duration.ofNanos(System.nanoTime() - startedNs).toSeconds());
        return String.format(
                Locale.ROOT,
                "%d s: %d reads compared (%d/s), %d failed as allowed, %d opened with a request to the daemon, %d requests;"
                        + " longest %.1f s; rarest: %s",
                seconds,
                reads(),
                reads() / seconds,
                errnos.values().stream().mapToLong(Long::longValue).sum(),
                asked.values().stream().mapToLong(Asked::upcalls).sum(),
                asked.values().stream().mapToLong(Asked::requests).sum(),
                longestSeconds,
                StressNeeds.rarest(faults()));
    }

    synchronized double longestSeconds() {
        return longestSeconds;
    }

    synchronized String text() {
        StringBuilder text = new StringBuilder();
        Duration time = Duration.ofNanos(System.nanoTime() - startedNs);
        line(text, "time", time.toSeconds() + " s");
        faults().forEach((kind, count) -> line(text, "injected: " + kind, count));
        impossible.forEach(kind -> line(text, "not possible here: " + kind, ""));
        noticed.forEach((what, count) -> line(text, "noticed: " + what, count));
        line(text, "reads compared", reads());
        line(text, "a second", reads() / Math.max(1, time.toSeconds()));
        line(text, "bytes compared", bytes + comparedBytes);
        line(text, "opened", asked.values().stream().mapToLong(Asked::opened).sum());
        line(
                text,
                "asked daemons for bytes: opened",
                asked.values().stream().mapToLong(Asked::upcalls).sum());
        line(
                text,
                "asked daemons for bytes: requests",
                asked.values().stream().mapToLong(Asked::requests).sum());
        errnos.forEach((errno, count) -> line(text, "failed as allowed: " + errno, count));
        line(text, "mismatches", mismatches);
        line(text, "hangs", hangs);
        line(text, "longest read", String.format(Locale.ROOT, "%.2f s", longestSeconds));
        line(text, "timed out without a fault", slow);
        line(text, "leftover mounts", left);
        took.forEach((step, all) -> line(
                text,
                "seconds in " + step.toLowerCase(Locale.ROOT),
                String.format(Locale.ROOT, "%.1f in %d", all.seconds(), all.times())));
        return text + rounds.toString();
    }

    private static void line(StringBuilder text, String name, Object value) {
        text.append(String.format(Locale.ROOT, "%-36s %s%n", name, value));
    }

    void write(Path file) throws IOException {
        write(file, "");
    }

    /** Replaces the file atomically, so that a reader never sees half of it. */
    void write(Path file, String further) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.writeString(fresh, text() + further);
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
