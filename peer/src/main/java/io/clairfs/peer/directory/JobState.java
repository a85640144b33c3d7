package io.clairfs.peer.directory;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A job as its last change left it. Of two changes that different nodes have made, the one with the later stamp holds on all of them.
 *
 * <p>The stamp is the wall clock's time, but later than that of the change before it: a logical clock (Lamport, "Time, Clocks, and the Ordering of Events
 * in a Distributed System", 1978). So whoever ends a job ends what it knew of it, and whoever starts it anew does so after that, however far the clocks of
 * two nodes are apart.
 *
 * @param lines its specification; empty when it has ended
 * @param stamp of the change, milliseconds since 1970; 0 if that is not known, which is earlier than any other
 */
record JobState(String lines, long stamp) {
    /** What a node of an older version reads as neither a job nor the end of one. */
    private static final String BEFORE_STAMP = "\n@";

    private static final Pattern STAMPED = Pattern.compile("(.*)\n@([0-9]+)", Pattern.DOTALL);

    /** As {@link #text} wrote it, or as a node of an older version did, without a stamp. A number that no {@code long} holds is no stamp. */
    static JobState read(String text) {
        Matcher stamped = STAMPED.matcher(text);
        if (!stamped.matches()) {
            return new JobState(text, 0);
        }
        try {
            return new JobState(stamped.group(1), Long.parseLong(stamped.group(2)));
        } catch (NumberFormatException tooLarge) {
            return new JobState(text, 0);
        }
    }

    /**
     * The change that follows this one, at this time of the wall clock; later than this one. Only after the last stamp there is, which no clock gives, both
     * have the same, and the group's map says which of them holds.
     */
    JobState next(String nextLines, long nowMs) {
        long later = stamp == Long.MAX_VALUE ? stamp : stamp + 1;
        return new JobState(nextLines, Math.max(nowMs, later));
    }

    String text() {
        return stamp == 0 ? lines : lines + BEFORE_STAMP + stamp;
    }

    boolean hasEnded() {
        return lines.isEmpty();
    }
}
