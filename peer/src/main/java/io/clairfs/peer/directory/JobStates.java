package io.clairfs.peer.directory;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The last change of each job that this node has seen. While two halves of a group merge, the group's map may be empty for a moment, and may go back to an
 * earlier change, for it goes by the clocks of the members; what is remembered here does neither.
 *
 * <p>Jobs that have ended are remembered as well, the last of them, so that a node that still runs one does not start it again. Its lock is held for moments,
 * and no other lock is taken inside.
 */
public final class JobStates {
    /** Of each job that two halves of a group may have had. */
    private static final int MOST = 2 * Jobs.MOST_JOBS;

    private final int most;
    private final Map<String, JobState> last = new HashMap<>();

    /** Nothing was seen yet. A member that joins a group again remembers what it has seen before. */
    public JobStates() {
        this(MOST);
    }

    /** Remembers so many jobs, of which those that ended first are forgotten. */
    JobStates(int most) {
        this.most = most;
    }

    /** Takes in what the group's map has of a job. Returns what holds: that, or a later change that was seen before. */
    synchronized JobState seen(String name, JobState told) {
        JobState known = last.get(name);
        if (known != null && known.stamp() > told.stamp()) {
            return known;
        }
        last.put(name, told);
        if (last.size() > most) {
            forgetOne();
        }
        return told;
    }

    private void forgetOne() {
        String first = last.entrySet().stream()
                .filter(each -> each.getValue().hasEnded())
                .min(Comparator.comparingLong(each -> each.getValue().stamp()))
                .map(Map.Entry::getKey)
                .orElse(null);
        if (first != null) {
            last.remove(first);
        }
    }

    /** A change of a job at this time of the wall clock, milliseconds since 1970; later than the last one that was seen ({@link JobState#next}). */
    synchronized JobState next(String name, String lines, long nowMs) {
        JobState known = last.get(name);
        return known == null ? new JobState(lines, nowMs) : known.next(lines, nowMs);
    }

    /** The last change of a job; null if none was seen, or it is forgotten. */
    synchronized @Nullable JobState of(String name) {
        return last.get(name);
    }

    /** The jobs that have ended, by name. */
    synchronized Set<String> ended() {
        return last.entrySet().stream()
                .filter(each -> each.getValue().hasEnded())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }
}
