package io.clairfs.peer.directory;

import com.hazelcast.cluster.Member;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.topic.ITopic;
import com.hazelcast.topic.Message;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Carries holdings between nodes: deltas to all over one topic, the whole to one node over that node's own topic.
 *
 * <p>Topics may lose messages. Every delta has a number, so the next delta or reminder shows a gap, and the node asks for the
 * whole. A node that joins asks all others. So nothing depends on any one message.
 */
final class HoldingsExchange implements AutoCloseable {
    private static final Logger LOG = System.getLogger(HoldingsExchange.class.getName());
    static final String TO_ALL = "holdings";
    private static final String TO_ONE = "holdings-";

    private final HazelcastInstance hazelcast;
    private final HeldHere here;
    private final HeldElsewhere elsewhere;
    private final LifeSigns signs;
    private final int samples;
    private final long askNs;
    private final TopicListeners listeners;
    private volatile Supplier<SpareThreads> spare = () -> SpareThreads.NONE;
    private final Map<UUID, Long> askedNs = new ConcurrentHashMap<>();
    private final Map<UUID, Long> toldNs = new ConcurrentHashMap<>();

    HoldingsExchange(
            HazelcastInstance hazelcast,
            HeldHere here,
            HeldElsewhere elsewhere,
            LifeSigns signs,
            int samples,
            DirectoryTimes times) {
        this.signs = signs;
        this.hazelcast = hazelcast;
        this.here = here;
        this.elsewhere = elsewhere;
        this.samples = samples;
        this.askNs = TimeUnit.MILLISECONDS.toNanos(times.askMs());
        listeners = new TopicListeners(hazelcast, this::topics, this::received, this::askAll, times.signMs());
    }

    private List<String> topics() {
        return List.of(TO_ALL, TO_ONE + hazelcast.getCluster().getLocalMember().getUuid());
    }

    /** Starts to listen, and asks all nodes for what they hold. */
    void begin() {
        listeners.begin();
    }

    /** The same under the new id that this node has got, soon. */
    void beginAgain() {
        listeners.again();
    }

    /** Sends all nodes what changed here. */
    void publish() {
        send(TO_ALL, here.deltas());
    }

    /** Sends all nodes the numbers of this node's newest states. */
    void remind() {
        send(TO_ALL, here.reminders());
    }

    /** The same to one node, which has just joined: all nodes do this at every join, and to all it would be too much in a large group. */
    void remind(UUID node) {
        send(TO_ONE + node, here.reminders());
    }

    /** Sends all nodes a heartbeat, and makes sure that this node hears theirs. */
    void heartbeat(List<Node> nodes) {
        send(TO_ALL, List.of(new HoldingsMessage.Here(spare.get())));
        long silentMs = nodes.stream()
                .filter(node -> !node.self())
                .mapToLong(node -> signs.silentMs(node.id()))
                .max()
                .orElse(0);
        listeners.heartbeat(silentMs, nodes.size());
    }

    /** What every heartbeat says from now on. */
    void announce(Supplier<SpareThreads> now) {
        spare = now;
    }

    private void askAll() {
        send(TO_ALL, List.of(new HoldingsMessage.Ask()));
    }

    /** Forgets the times of requests to and from a node that left. */
    void forget(UUID node) {
        askedNs.remove(node);
        toldNs.remove(node);
    }

    private void send(String topic, List<HoldingsMessage> messages) {
        ITopic<byte[]> to = hazelcast.getTopic(topic);
        messages.forEach(message -> to.publish(HoldingsMessage.write(message)));
    }

    private void received(Message<byte[]> message) {
        Member from = message.getPublishingMember();
        UUID node =
                from == null ? null : from.getUuid(); // a member that is merging into the group has none for a moment
        if (node == null || from.localMember()) {
            return;
        }
        signs.heard(node);
        HeldThere there = elsewhere.of(node);
        if (there == null) {
            return; // not listed yet, or never will be; it sends reminders
        }
        try {
            HoldingsMessage said = HoldingsMessage.read(message.getMessageObject(), samples);
            if (said instanceof HoldingsMessage.Ask) {
                if (isDue(toldNs, node)) {
                    send(TO_ONE + node, here.whole());
                }
            } else if (!there.apply(said) && isDue(askedNs, node)) {
                send(TO_ONE + node, List.of(new HoldingsMessage.Ask()));
            }
        } catch (IOException e) {
            LOG.log(Level.WARNING, "holdings of " + there.node() + ": " + e.getMessage());
        } catch (HazelcastInstanceNotActiveException closing) {
            LOG.log(Level.DEBUG, "holdings while closing", closing);
        }
    }

    @Override
    public void close() {
        listeners.close();
    }

    private boolean isDue(Map<UUID, Long> last, UUID node) {
        long now = System.nanoTime();
        Long before = last.get(node);
        if (before != null && now - before < askNs) {
            return false;
        }
        last.put(node, now);
        return true;
    }
}
