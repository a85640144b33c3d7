package io.clairfs.peer.directory;

import com.hazelcast.cluster.Cluster;
import com.hazelcast.cluster.MembershipEvent;
import com.hazelcast.cluster.MembershipListener;
import com.hazelcast.core.EntryAdapter;
import com.hazelcast.core.EntryEvent;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.core.LifecycleEvent;
import com.hazelcast.map.MapEvent;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * This node's seat in the group: who else is there, which jobs run, and who holds what.
 *
 * <p>Life cycle: joined once, by a static factory that takes seconds; closed by {@code PeerGroup}. One thread of its own tells and refreshes. The only lock is held while the
 * list of members changes; listeners are called on that thread, without it.
 */
public final class GroupMembership implements AutoCloseable {
    private static final Logger LOG = System.getLogger(GroupMembership.class.getName());

    /** Between two heartbeats of this node, by which others judge whether it answers. */
    private static final int HEARTBEAT_MS = 1_000;

    /** How often a join is begun. */
    private static final int JOINS = 3;

    private final ClusterConfig config;
    private final HazelcastInstance hazelcast;
    private final ScheduledThreadPoolExecutor thread;
    private final Jobs jobs;
    private final HeldHere heldHere;
    private final HeldElsewhere heldElsewhere = new HeldElsewhere();
    private final LifeSigns signs = new LifeSigns();
    private final HoldingsExchange exchange;
    private final List<Consumer<List<Node>>> listeners = new CopyOnWriteArrayList<>();
    private volatile List<Node> nodes = List.of();
    private volatile Map<UUID, Node> byId = Map.of();

    private GroupMembership(ClusterConfig config, HazelcastInstance hazelcast, String name, int samples) {
        this.config = config;
        this.hazelcast = hazelcast;
        thread = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("clairfs-directory").factory());
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        jobs = new Jobs(hazelcast, name);
        heldHere = new HeldHere(samples, new SecureRandom().nextLong());
        exchange = new HoldingsExchange(hazelcast, heldHere, heldElsewhere, signs, samples, config.times());
    }

    /**
     * Joins the group, or founds it. Takes some seconds; a join that hangs is given up and begun anew a few times.
     *
     * @param samples in the dataset
     * @throws IOException if the address cannot be had, or no group can be joined
     */
    public static GroupMembership open(ClusterConfig config, Node.Introduction self, int samples) throws IOException {
        HazelcastInstance hazelcast = join(config, self);
        GroupMembership directory = new GroupMembership(config, hazelcast, self.name(), samples);
        try {
            directory.begin();
            return directory;
        } catch (RuntimeException e) {
            directory.terminate();
            throw new IOException("cannot take part in the group at " + config.bind() + ": " + e.getMessage(), e);
        }
    }

    private static HazelcastInstance join(ClusterConfig config, Node.Introduction self) throws IOException {
        SteadyClock.install();
        for (int attempt = 1; ; attempt++) {
            long start = System.nanoTime();
            try {
                return Hazelcast.newHazelcastInstance(HazelcastSettings.of(config, self));
            } catch (RuntimeException e) { // Hazelcast's own kinds, and plain ones
                long tookSeconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
                if (attempt == JOINS || tookSeconds < HazelcastSettings.JOIN_SECONDS) {
                    throw new IOException(
                            "cannot take part in the group at " + config.bind() + ": " + e.getMessage(), e);
                }
                LOG.log(Level.WARNING, "no answer to a join within " + tookSeconds + " s; joining anew");
            }
        }
    }

    private void begin() {
        hazelcast.getCluster().addMembershipListener(new MembershipListener() {
            @Override
            public void memberAdded(MembershipEvent event) {
                members(event.getCluster());
                soon(exchange::remind);
            }

            @Override
            public void memberRemoved(MembershipEvent event) {
                members(event.getCluster());
                exchange.forget(event.getMember().getUuid());
                signs.forget(event.getMember().getUuid());
            }
        });
        hazelcast.getLifecycleService().addLifecycleListener(event -> {
            if (event.getState() == LifecycleEvent.LifecycleState.MERGED) {
                LOG.log(Level.INFO, "two halves of the group have met again");
                members(hazelcast.getCluster());
                soon(this::afterMerge);
            }
        });
        members(hazelcast.getCluster());
        EntryAdapter<String, String> changed = new EntryAdapter<>() {
            @Override
            public void onEntryEvent(EntryEvent<String, String> event) {
                soon(jobs::refresh);
            }

            @Override
            public void onMapEvent(MapEvent event) {
                soon(jobs::refresh);
            }
        };
        hazelcast.<String, String>getReplicatedMap(Jobs.LINES).addEntryListener(changed);
        hazelcast.<String, String>getReplicatedMap(Jobs.RANKS).addEntryListener(changed);
        jobs.refresh();
        exchange.begin();
        DirectoryTimes times = config.times();
        repeat(exchange::publish, times.publishMs());
        repeat(exchange::sayHere, Math.min(HEARTBEAT_MS, times.repeatMs()));
        repeat(
                () -> {
                    exchange.remind();
                    jobs.refresh();
                },
                times.repeatMs());
    }

    /** Members get new ids when they merge, and topics named after them. */
    private void afterMerge() {
        exchange.begin();
        exchange.remind();
        jobs.refresh();
    }

    private synchronized void members(Cluster cluster) {
        List<Node> now = cluster.getMembers().stream()
                .flatMap(member -> Node.of(member, config).stream())
                .sorted(Comparator.comparing(Node::name).thenComparing(Node::id))
                .toList();
        heldElsewhere.nodes(now);
        if (!now.equals(nodes)) {
            now.stream().filter(node -> !nodes.contains(node)).forEach(node -> signs.heard(node.id()));
            nodes = now;
            byId = now.stream().collect(Collectors.toUnmodifiableMap(Node::id, node -> node));
            soon(() -> listeners.forEach(listener -> listener.accept(now)));
        }
    }

    private void repeat(Runnable task, int everyMs) {
        var _ = thread.scheduleWithFixedDelay(() -> quietly(task), everyMs, everyMs, TimeUnit.MILLISECONDS);
    }

    private void soon(Runnable task) {
        try {
            thread.execute(() -> quietly(task));
        } catch (RejectedExecutionException closing) {
            LOG.log(Level.DEBUG, "an event while closing", closing);
        }
    }

    private static void quietly(Runnable task) {
        try {
            task.run();
        } catch (HazelcastInstanceNotActiveException closing) {
            LOG.log(Level.DEBUG, "a task while closing", closing);
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "the directory goes on after", e);
        }
    }

    /** The members, this node among them, in the order of their names: no call to anybody. */
    public List<Node> nodes() {
        return nodes;
    }

    /** A member by its id; null if it is none any more. */
    public @Nullable Node node(UUID id) {
        return byId.get(id);
    }

    /** For how long a member has said nothing, milliseconds; a second or two is usual. */
    public long silentMs(Node node) {
        return node.self() ? 0 : signs.silentMs(node.id());
    }

    /** Called with all members after every change, on the directory's thread; must not block. */
    public void onNodesChange(Consumer<List<Node>> listener) {
        listeners.add(listener);
        listener.accept(nodes);
    }

    public Jobs jobs() {
        return jobs;
    }

    /** To report what this node's tiers hold. */
    public HeldHere heldHere() {
        return heldHere;
    }

    /** To look up who else holds a sample. */
    public HeldElsewhere heldElsewhere() {
        return heldElsewhere;
    }

    /** Leaves the group in an orderly way; takes a few seconds at most. */
    @Override
    public void close() {
        thread.shutdownNow();
        hazelcast.shutdown();
    }

    /** Leaves without a word, as a crash would. */
    void terminate() {
        thread.shutdownNow();
        hazelcast.getLifecycleService().terminate();
    }

    HazelcastInstance hazelcast() {
        return hazelcast;
    }
}
