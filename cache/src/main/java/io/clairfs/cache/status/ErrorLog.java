package io.clairfs.cache.status;

import java.time.Clock;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.regex.Pattern;

/** The last failures, for status; older ones are dropped, but all are counted. */
public final class ErrorLog {
    private static final int KEPT = 100;
    private static final int LONGEST_MESSAGE = 2000;
    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

    private final Clock clock;
    private final Deque<Line> lines = new ArrayDeque<>();
    private long total;

    public ErrorLog(Clock clock) {
        this.clock = clock;
    }

    /** One failure. */
    public record Line(Instant time, String message) {}

    /** Adds a line; line breaks and other control characters in it become spaces. */
    public synchronized void add(String message) {
        String cut = message.length() <= LONGEST_MESSAGE ? message : message.substring(0, LONGEST_MESSAGE) + "...";
        String text = CONTROL.matcher(cut).replaceAll(" ");
        Line last = lines.peekLast();
        total++;
        if (last != null && last.message.equals(text)) {
            lines.removeLast(); // a reader that retries must not push out everything else
        }
        lines.addLast(new Line(clock.instant(), text));
        if (lines.size() > KEPT) {
            lines.removeFirst();
        }
    }

    /** The last lines, oldest first. */
    public synchronized List<Line> lines() {
        return List.copyOf(lines);
    }

    /** How many there were in all. */
    public synchronized long total() {
        return total;
    }
}
