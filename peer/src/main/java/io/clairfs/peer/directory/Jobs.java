package io.clairfs.peer.directory;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.replicatedmap.ReplicatedMap;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The jobs of the group: written on one node, known on all, with each node's own ranks beside them. Every node has all of
 * them and goes on with what it has when the others cannot be reached.
 */
public final class Jobs {
    static final String LINES = "jobs";
    static final String RANKS = "ranks";

    private static final Logger LOG = System.getLogger(Jobs.class.getName());
    private static final char BETWEEN = '\n';
    private static final int MOST_JOBS = 1_000;
    private static final int MOST_NAME_LENGTH = 64;
    private static final int MOST_LINES_LENGTH = 64 << 10;

    private final String self;
    private final ReplicatedMap<String, String> lines;
    private final ReplicatedMap<String, String> ranks;
    private final List<Consumer<Map<String, Job>>> listeners = new CopyOnWriteArrayList<>();
    private volatile Map<String, Job> known = Map.of();

    Jobs(HazelcastInstance hazelcast, String self) {
        this.self = self;
        lines = hazelcast.getReplicatedMap(LINES);
        ranks = hazelcast.getReplicatedMap(RANKS);
    }

    /** Makes a job known to all nodes, or changes it. The last change wins. */
    public void put(String name, String specification) {
        if (name.isEmpty() || name.length() > MOST_NAME_LENGTH || name.indexOf(BETWEEN) >= 0) {
            throw new IllegalArgumentException("a job's name has 1 to " + MOST_NAME_LENGTH + " characters in one line");
        }
        if (specification.length() > MOST_LINES_LENGTH) {
            throw new IllegalArgumentException(
                    "a job's specification has at most " + MOST_LINES_LENGTH + " characters");
        }
        if (!lines.containsKey(name) && lines.size() >= MOST_JOBS) {
            throw new IllegalArgumentException("there are " + MOST_JOBS + " jobs already");
        }
        lines.put(name, specification);
    }

    /** Says which ranks of a job read through this node. */
    public void putRanks(String job, String ranksHere) {
        ranks.put(job + BETWEEN + self, ranksHere);
    }

    /** Ends a job on all nodes. */
    public void remove(String name) {
        lines.remove(name);
        for (String key : List.copyOf(ranks.keySet())) {
            if (key.startsWith(name + BETWEEN)) {
                ranks.remove(key);
            }
        }
    }

    /** All jobs by name, as they are known here: no call to anybody. */
    public Map<String, Job> all() {
        return known;
    }

    /** Called with all jobs after every change, on the directory's thread; must not block. Called once at once, too. */
    public void onChange(Consumer<Map<String, Job>> listener) {
        listeners.add(listener);
        listener.accept(known);
    }

    /** Looks at both maps anew; on the directory's thread. */
    void refresh() {
        Map<String, Map<String, String>> ranksOf = new HashMap<>();
        ranks.forEach((key, value) -> {
            int at = key.indexOf(BETWEEN);
            ranksOf.computeIfAbsent(key.substring(0, at), _ -> new TreeMap<>()).put(key.substring(at + 1), value);
        });
        Map<String, Job> now = new TreeMap<>();
        lines.forEach((name, text) -> now.put(name, new Job(name, text, ranksOf.getOrDefault(name, Map.of()))));
        if (now.equals(known)) {
            return;
        }
        known = Map.copyOf(now);
        for (Consumer<Map<String, Job>> listener : listeners) {
            try {
                listener.accept(known);
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "a listener to jobs", e);
            }
        }
    }
}
