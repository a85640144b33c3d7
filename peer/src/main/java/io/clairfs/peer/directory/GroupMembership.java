package io.clairfs.peer.directory;

import com.hazelcast.cluster.Cluster;
import com.hazelcast.cluster.MembershipEvent;
import com.hazelcast.cluster.MembershipListener;
import com.hazelcast.config.Config;
import com.hazelcast.core.EntryAdapter;
import com.hazelcast.core.EntryEvent;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.core.LifecycleEvent;
import com.hazelcast.core.OperationTimeoutException;
import com.hazelcast.instance.impl.HazelcastInstanceFactory;
import com.hazelcast.map.MapEvent;
import io.clairfs.peer.directory.tls.GroupNodeContext;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
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
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * This node's membership in the group: the other nodes, the jobs, and which node holds which sample.
 *
 * <p>Life cycle: {@link #open} joins once, which takes seconds, and starts the directory's one thread. {@code PeerGroup} opens it after the transfer
 * client, and closes it before. When two halves of the group merge, this node gets a new id and listens under it; if that fails, it {@link #hasEnded}.
 *
 * <p>Locks: its only lock is held while the list of members changes; that of {@link HeldElsewhere} is taken inside. Publishing, refreshing and calls
 * of listeners after a change happen on the directory's thread, without it. Reads take no lock and make no network call.
 */
public final class GroupMembership implements AutoCloseable {
    private static final Logger LOG = System.getLogger(GroupMembership.class.getName());

    /** How many times a join is tried. */
    private static final int JOINS = 3;

    private final ClusterConfig config;
    private final HazelcastInstance hazelcast;
    private final MemberNames names;
    private final ScheduledThreadPoolExecutor thread;
    private final Jobs jobs;
    private final HeldHere heldHere;
    private final HeldElsewhere heldElsewhere;
    private final LifeSigns signs = new LifeSigns();
    private final HoldingsExchange exchange;
    private final List<Consumer<List<Node>>> listeners = new CopyOnWriteArrayList<>();
    private volatile List<Node> nodes = List.of();
    private volatile Map<UUID, Node> byId = Map.of();

    private GroupMembership(
            ClusterConfig config,
            HazelcastInstance hazelcast,
            MemberNames names,
            Node.Introduction self,
            int samples,
            JobStates states) {
        this.config = config;
        this.hazelcast = hazelcast;
        this.names = names;
        thread = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("clairfs-directory").factory());
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        jobs = new Jobs(hazelcast, self, states);
        heldHere = new HeldHere(samples, new SecureRandom().nextLong());
        heldElsewhere = new HeldElsewhere(samples);
        exchange = new HoldingsExchange(hazelcast, heldHere, heldElsewhere, signs, samples, config.times());
    }

    /**
     * Joins the group, or founds it. Takes some seconds; a join that hangs is given up and tried again a few times. Members whose names have no address are
     * looked up again afterwards, and met when they have one.
     *
     * @param samples in the dataset
     * @throws IOException if the address is not available, none of the members has one, or no group can be joined
     */
    public static GroupMembership open(ClusterConfig config, Node.Introduction self, int samples) throws IOException {
        return open(config, self, samples, new JobStates());
    }

    /** The same again after the membership before has ended; {@code states} are the jobs' last changes that were seen in it. */
    public static GroupMembership open(ClusterConfig config, Node.Introduction self, int samples, JobStates states)
            throws IOException {
        return openAsking(InetAddress::getAllByName, config, self, samples, states);
    }

    /** The same with names looked up by {@code servers}. */
    static GroupMembership openAsking(
            NameLookup.Servers servers, ClusterConfig config, Node.Introduction self, int samples, JobStates states)
            throws IOException {
        MemberNames names = MemberNames.of(config, servers);
        names.lookUp();
        if (names.addresses().isEmpty() && !names.waiting().isEmpty()) {
            throw new IOException("cannot take part in the group at " + config.bind()
                    + ": no address is known for any of " + String.join(", ", names.waiting()));
        }
        return open(config, () -> HazelcastSettings.of(config, self, names), names, self, samples, states);
    }

    /** The same with Hazelcast's settings by the caller. */
    static GroupMembership open(ClusterConfig config, Supplier<Config> settings, Node.Introduction self, int samples)
            throws IOException {
        MemberNames names = MemberNames.of(config, InetAddress::getAllByName);
        names.lookUp();
        return open(config, settings, names, self, samples, new JobStates());
    }

    private static GroupMembership open(
            ClusterConfig config,
            Supplier<Config> settings,
            MemberNames names,
            Node.Introduction self,
            int samples,
            JobStates states)
            throws IOException {
        SteadyClock.install();
        for (int attempt = 1; ; attempt++) {
            long start = System.nanoTime();
            try {
                return join(config, settings.get(), names, self, samples, states);
            } catch (RuntimeException e) { // Hazelcast's own exceptions, and plain ones
                long tookSeconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
                boolean hung = e instanceof OperationTimeoutException || tookSeconds >= HazelcastSettings.JOIN_SECONDS;
                if (attempt == JOINS || !hung) {
                    throw new IOException(
                            "cannot take part in the group at " + config.bind() + ": " + e.getMessage(), e);
                }
                LOG.log(Level.WARNING, "no answer to a join within " + tookSeconds + " s; joining anew");
            }
        }
    }

    private static GroupMembership join(
            ClusterConfig config,
            Config settings,
            MemberNames names,
            Node.Introduction self,
            int samples,
            JobStates states) {
        HazelcastInstance hazelcast = HazelcastInstanceFactory.newHazelcastInstance(
                settings,
                null,
                new GroupNodeContext(config.encryptionKey(), HazelcastSettings.handshakeSeconds(config.times())));
        GroupMembership directory = null;
        try {
            directory = new GroupMembership(config, hazelcast, names, self, samples, states);
            directory.begin();
            return directory;
        } catch (RuntimeException | Error e) {
            if (directory != null) {
                directory.terminate();
            }
            hazelcast.getLifecycleService().terminate();
            throw e;
        }
    }

    private void begin() {
        hazelcast.getCluster().addMembershipListener(new MembershipListener() {
            @Override
            public void memberAdded(MembershipEvent event) {
                members(event.getCluster());
                soon(() -> exchange.remind(event.getMember().getUuid()));
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
        repeat(() -> exchange.heartbeat(nodes), times.signMs());
        repeat(
                () -> {
                    exchange.remind();
                    jobs.refresh();
                },
                times.repeatMs());
        names.begin(times.mergeSeconds());
    }

    /** Listens again: members get new ids when they merge, and topics are named after these. */
    private void afterMerge() {
        exchange.beginAgain();
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
        } catch (Throwable e) { // a task that is repeated would not be any more
            LOG.log(Level.ERROR, "the directory goes on after", e);
        }
    }

    /** The members, this node included, in the order of their names. */
    public List<Node> nodes() {
        return nodes;
    }

    /** Members by whom the group is to be found and whose names have no address yet, as they were named. They are looked up again and again. */
    public List<String> membersWithoutAddress() {
        return names.waiting();
    }

    /** The member with this id; null if it has left. */
    public @Nullable Node node(UUID id) {
        return byId.get(id);
    }

    /** How long a member has been silent, milliseconds; a second or two is usual. */
    public long silentMs(Node node) {
        return node.self() ? 0 : signs.silentMs(node.id());
    }

    /** Calls {@code listener} with all members: now, and after every change on the directory's thread. It must not block. */
    public void onNodesChange(Consumer<List<Node>> listener) {
        listeners.add(listener);
        listener.accept(nodes);
    }

    public Jobs jobs() {
        return jobs;
    }

    /** Takes reports of what this node's tiers hold. */
    public HeldHere heldHere() {
        return heldHere;
    }

    /** Tells the others from now on, about once a second, what this node can make for them. Called on the directory's thread. */
    public void announce(Supplier<SpareThreads> spare) {
        exchange.announce(spare);
    }

    /** Says which other nodes hold a sample. */
    public HeldElsewhere heldElsewhere() {
        return heldElsewhere;
    }

    /**
     * Whether this node is out of the group for good, though nobody has closed this: Hazelcast ends where the merge of two halves fails, or memory
     * runs out. What this says of the group is then what it knew last.
     */
    public boolean hasEnded() {
        return !hazelcast.getLifecycleService().isRunning();
    }

    /** Leaves the group in an orderly way; takes a few seconds at most. */
    @Override
    public void close() {
        names.close();
        thread.shutdownNow();
        exchange.close();
        hazelcast.shutdown();
    }

    /** Leaves without notice, as a crash would. */
    void terminate() {
        names.close();
        thread.shutdownNow();
        exchange.close();
        hazelcast.getLifecycleService().terminate();
    }

    HazelcastInstance hazelcast() {
        return hazelcast;
    }
}
