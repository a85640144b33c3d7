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

/** What random tests did and found, for people and for {@code ./verify}. */
final class StressReport {
    private static final int MOST_FAILURES = 20;

    /** Steps that a failure tells. */
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
     * What daemons were asked.
     *
     * @param opened files
     * @param upcalls those of them for whose bytes the kernel asked
     * @param requests for bytes
     */
    record Asked(long opened, long upcalls, long requests) {}

    synchronized void round(String line) {
        rounds.append(line).append('\n');
        System.out.println(line);
    }

    /** So many faults of a kind were injected. */
    synchronized void fault(String kind, long count) {
        faults.merge(kind, count, Long::sum);
    }

    /** What somebody has counted from its beginning until now. */
    synchronized void counted(Object somebody, String prefix, Map<String, Long> counts) {
        Map<String, Long> named = new TreeMap<>();
        counts.forEach((kind, count) -> named.put(prefix + kind, count));
        counted.put(somebody, named);
    }

    /** What a daemon has been asked from its beginning until now. */
    synchronized void asked(long daemon, Asked until) {
        asked.put(daemon, until);
    }

    /** Strikes of all faults by kind. */
    synchronized Map<String, Long> faults() {
        Map<String, Long> all = new TreeMap<>(faults);
        counted.values().forEach(each -> each.forEach((kind, count) -> all.merge(kind, count, Long::sum)));
        return all;
    }

    /** The same of one, if it was. */
    void fault(String kind, boolean injected) {
        if (injected) {
            fault(kind, 1);
        }
    }

    /** How often something was done, and how long it took in all. */
    private record Took(int times, double seconds) {}

    /** A step is over. */
    synchronized void did(int step, String what, long startNs, long endNs) {
        double seconds = (endNs - startNs) / NANOS_PER_SECOND;
        Took before = took.getOrDefault(what, new Took(0, 0));
        took.put(what, new Took(before.times() + 1, before.seconds() + seconds));
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

    /** So many reads of a crowd brought what they should; the longest call may be one that failed. */
    synchronized void compared(long count, long byteCount, double seconds) {
        compared += count;
        comparedBytes += byteCount;
        longestSeconds = Math.max(longestSeconds, seconds);
    }

    /** A read failed, and it may. */
    synchronized void failedAsAllowed(int errno, double seconds) {
        errnos.merge("errno " + errno, 1L, Long::sum);
        longestSeconds = Math.max(longestSeconds, seconds);
    }

    /**
     * A read timed out although nothing that was injected explains it: an overloaded machine, if it is rare. Those that time out at about the same time are
     * counted once. Returns whether it is rare.
     */
    synchronized boolean stalled(long endNs) {
        if (slow == 0 || Math.abs(endNs - stalledNs) > STALL_NS) {
            slow++;
            stalledNs = endNs;
        }
        return slow <= MOST_SLOW + (System.nanoTime() - startedNs) / BETWEEN_STALLS_NS;
    }

    /** Whether a read that ended then may have waited together with one that {@link #stalled}. */
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

    /** What may be, and is worth a line beside what is found. */
    synchronized void noted(String what) {
        double at = (System.nanoTime() - startedNs) / NANOS_PER_SECOND;
        System.out.printf(Locale.ROOT, "at %.2f s: %s%n", at, what);
    }

    /** Something else that must not be. */
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

    /** Reads that brought what they should. */
    synchronized long reads() {
        return reads + compared;
    }

    /** How it goes, in a line. */
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

    /** Replaces the file at once, so that nobody finds half of it. */
    void write(Path file, String further) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.writeString(fresh, text() + further);
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
