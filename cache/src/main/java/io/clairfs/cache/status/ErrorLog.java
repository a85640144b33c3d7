package io.clairfs.cache.status;

import java.time.Clock;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/** The last failures, for status; older ones are dropped, but all are counted. */
public final class ErrorLog {
    private static final int KEPT = 100;
    private static final int LONGEST_MESSAGE = 2000;
    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

    private final Clock clock;
    private final Consumer<String> told;
    private final Deque<Line> lines = new ArrayDeque<>();
    private long total;

    public ErrorLog(Clock clock) {
        this(clock, _ -> {});
    }

    /** Tells {@code told} each message, too, but one that is repeated at once a single time. */
    public ErrorLog(Clock clock, Consumer<String> told) {
        this.clock = clock;
        this.told = told;
    }

    /** One failure. */
    public record Line(Instant time, String message) {}

    /** Adds a line; line breaks and other control characters in it become spaces. */
    public void add(String message) {
        String cut = message.length() <= LONGEST_MESSAGE ? message : message.substring(0, LONGEST_MESSAGE) + "...";
        String text = CONTROL.matcher(cut).replaceAll(" ");
        if (isNew(text)) {
            told.accept(text);
        }
    }

    /** Adds a line; whether it is not the one before once more. */
    private synchronized boolean isNew(String text) {
        Line last = lines.peekLast();
        total++;
        boolean isRepeated = last != null && last.message.equals(text);
        if (isRepeated) {
            lines.removeLast(); // a reader that retries must not push out everything else
        }
        lines.addLast(new Line(clock.instant(), text));
        if (lines.size() > KEPT) {
            lines.removeFirst();
        }
        return !isRepeated;
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
