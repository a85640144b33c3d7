package io.clairfs.peer.directory;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.core.OperationTimeoutException;
import com.hazelcast.replicatedmap.ReplicatedMap;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of the group, written on one node and known on all, and which ranks of them read on each node. Every node has all
 * of them, and goes on with these when it cannot reach the others.
 *
 * <p>A stopped job leaves an empty specification behind. By it a node that missed the stop, or sees no jobs for a moment while
 * two halves of the group merge, tells a stopped job from one that is not known yet. Each change has a stamp ({@link JobState}), and the latest holds:
 * a job that was stopped in one half of a group ends in the other one, too, when the halves merge, and one that was started anew after that runs in both.
 * The entries of the map are merged by the clocks of the members, so a node that has seen a later change {@link #tellAgain tells it again}.
 *
 * <p>A change whose member does not answer, for its connection ended or it is suspended, throws {@link TimeoutException} after some ten seconds. It
 * may have been made, and can be made again.
 */
public final class Jobs {
    static final String LINES = "jobs";
    static final String RANKS = "ranks";

    private static final Logger LOG = System.getLogger(Jobs.class.getName());
    private static final char BETWEEN = '\n';

    /** Between the ranks that a node has claimed and what it tells of itself. */
    private static final char ABOUT = ' ';

    /** Of jobs in the group, those included that have ended. */
    static final int MOST_JOBS = 1_000;

    private static final int MOST_NAME_LENGTH = 64;
    private static final int MOST_LINES_LENGTH = 64 << 10;

    private final String self;
    private final String about;
    private final ReplicatedMap<String, String> lines;
    private final ReplicatedMap<String, String> ranks;
    private final JobStates states;
    private final List<Consumer<Map<String, Job>>> listeners = new CopyOnWriteArrayList<>();
    private volatile Map<String, Job> known = Map.of();

    Jobs(HazelcastInstance hazelcast, Node.Introduction self, JobStates states) {
        this.states = states;
        this.self = self.name();
        about = HexFormat.of().formatHex(self.about());
        lines = hazelcast.getReplicatedMap(LINES);
        ranks = hazelcast.getReplicatedMap(RANKS);
    }

    /**
     * Makes a job known to all nodes, or changes it. The last change wins.
     *
     * @throws IllegalArgumentException if it is too long, or there are too many
     */
    public void put(String name, String specification) throws TimeoutException {
        makeRoom(name, specification);
        var _ = current(name); // what is written now comes after it
        write(name, states.next(name, specification, System.currentTimeMillis()));
    }

    /**
     * Makes a job known again that runs on this node, and that the group has lost. That is no start: a job that is known, or that has ended, stays as it is.
     *
     * @throws IllegalArgumentException if it is too long, or there are too many
     */
    public void putBack(String name, String specification) throws TimeoutException {
        JobState last = current(name);
        if (lines.containsKey(name) || (last != null && last.hasEnded())) {
            return;
        }
        makeRoom(name, specification);
        write(name, last == null ? new JobState(specification, 0) : last);
    }

    private void makeRoom(String name, String specification) throws TimeoutException {
        if (name.isEmpty() || name.length() > MOST_NAME_LENGTH || name.indexOf(BETWEEN) >= 0) {
            throw new IllegalArgumentException("a job's name has 1 to " + MOST_NAME_LENGTH + " characters in one line");
        }
        if (specification.isEmpty() || specification.length() > MOST_LINES_LENGTH) {
            throw new IllegalArgumentException("a job's specification has 1 to " + MOST_LINES_LENGTH + " characters");
        }
        if (lines.containsKey(name)) {
            return;
        }
        for (String ended : endedFirst(lines.size() + 1 - MOST_JOBS)) {
            change(() -> lines.remove(ended));
        }
        if (lines.size() >= MOST_JOBS) {
            throw new IllegalArgumentException("there are " + MOST_JOBS + " jobs already");
        }
    }

    /** So many jobs of the map that ended before the others; fewer if there are no more. */
    private List<String> endedFirst(int count) {
        return List.copyOf(lines.keySet()).stream()
                .filter(this::hasEnded)
                .sorted(Comparator.comparingLong(this::stamp))
                .limit(Math.max(0, count))
                .toList();
    }

    private boolean hasEnded(String name) {
        JobState last = current(name);
        return last != null && last.hasEnded();
    }

    private long stamp(String name) {
        JobState last = current(name);
        return last == null ? 0 : last.stamp();
    }

    /** The last change of a job as far as this node knows; null if it knows none. A local read. */
    private @Nullable JobState current(String name) {
        String text = lines.get(name);
        return text == null ? states.of(name) : states.seen(name, JobState.read(text));
    }

    private void write(String name, JobState state) throws TimeoutException {
        change(() -> lines.put(name, state.text()));
        var _ = states.seen(name, state);
    }

    /** Tells the group the changes that are later than what it has, as after two halves of it have merged. Makes no call where there are none. */
    public void tellAgain() throws TimeoutException {
        for (Map.Entry<String, String> entry : List.copyOf(lines.entrySet())) {
            JobState told = JobState.read(entry.getValue());
            JobState last = states.seen(entry.getKey(), told);
            if (last.stamp() > told.stamp()) {
                write(entry.getKey(), last);
            }
        }
    }

    private static void change(Runnable change) throws TimeoutException {
        try {
            change.run();
        } catch (OperationTimeoutException
                | HazelcastInstanceNotActiveException e) { // the latter while two halves merge
            LOG.log(Level.DEBUG, "a change of jobs", e);
            throw new TimeoutException("a member of the group does not answer");
        }
    }

    /** Publishes which ranks of a job read through this node, and with them what it tells of itself, for the time when it has left. */
    public void putRanks(String job, String ranksHere) throws TimeoutException {
        change(() -> ranks.put(job + BETWEEN + self, claim(ranksHere)));
    }

    /** Whether the group has that already, from this node as it is now: it may have told something else of itself before it left and came back. */
    public boolean hasRanks(String job, String ranksHere) {
        return claim(ranksHere).equals(ranks.get(job + BETWEEN + self));
    }

    private String claim(String ranksHere) {
        return ranksHere + ABOUT + about;
    }

    /** Removes what this node published of its ranks of stopped jobs. */
    public void removeRanksOfStopped() throws TimeoutException {
        for (String key : List.copyOf(ranks.keySet())) {
            int at = key.indexOf(BETWEEN);
            if (key.substring(at + 1).equals(self) && hasEnded(key.substring(0, at))) {
                change(() -> ranks.remove(key));
            }
        }
    }

    /** Ends a job on all nodes. */
    public void remove(String name) throws TimeoutException {
        if (!hasEnded(name)) {
            write(name, states.next(name, "", System.currentTimeMillis()));
        }
        for (String key : List.copyOf(ranks.keySet())) {
            if (key.startsWith(name + BETWEEN)) {
                change(() -> ranks.remove(key));
            }
        }
    }

    /**
     * The group's jobs at one moment.
     *
     * @param running by name
     * @param stopped names of stopped jobs, as many as are remembered
     * @param about what each node with ranks told of itself ({@link Node#about}), as hexadecimal digits, by its name; also of nodes that have left
     */
    public record Known(Map<String, Job> running, Set<String> stopped, Map<String, String> about) {
        /** Jobs of which no node has claimed a rank. */
        public Known(Map<String, Job> running, Set<String> stopped) {
            this(running, stopped, Map.of());
        }
    }

    /** The jobs, with every change made on this node so far. A local read. */
    public Known now() {
        Map<String, Map<String, String>> ranksOf = new HashMap<>();
        Map<String, String> aboutNodes = new TreeMap<>();
        ranks.forEach((key, value) -> {
            int at = key.indexOf(BETWEEN);
            int end = value.indexOf(ABOUT);
            String node = key.substring(at + 1);
            String ranksThere = end < 0 ? value : value.substring(0, end);
            ranksOf.computeIfAbsent(key.substring(0, at), _ -> new TreeMap<>()).put(node, ranksThere);
            if (end >= 0) { // else a node of an older version, which tells nothing of itself
                aboutNodes.put(node, value.substring(end + 1));
            }
        });
        Map<String, Job> running = new TreeMap<>();
        lines.forEach((name, text) -> {
            JobState last = states.seen(name, JobState.read(text));
            if (!last.hasEnded()) {
                running.put(name, new Job(name, last.lines(), ranksOf.getOrDefault(name, Map.of())));
            }
        });
        Set<String> stopped = new TreeSet<>(states.ended()); // also those of which the map has lost the end
        stopped.removeAll(running.keySet());
        return new Known(running, stopped, aboutNodes);
    }

    /** All running jobs by name, as of the last {@link #refresh}. A local read. */
    public Map<String, Job> all() {
        return known;
    }

    /** Calls {@code listener} with all running jobs: now, and after every change on the directory's thread. It must not block. */
    public void onChange(Consumer<Map<String, Job>> listener) {
        listeners.add(listener);
        listener.accept(known);
    }

    /** Reads both maps again and tells the listeners of a change; on the directory's thread. */
    void refresh() {
        Map<String, Job> now = now().running();
        if (now.equals(known)) {
            return;
        }
        known = Collections.unmodifiableMap(now);
        for (Consumer<Map<String, Job>> listener : listeners) {
            try {
                listener.accept(known);
            } catch (Throwable e) { // the other listeners hear of it all the same
                LOG.log(Level.ERROR, "a listener to jobs", e);
            }
        }
    }
}
