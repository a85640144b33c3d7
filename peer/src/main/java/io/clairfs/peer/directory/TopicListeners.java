package io.clairfs.peer.directory;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.topic.ITopic;
import com.hazelcast.topic.Message;
import com.hazelcast.topic.MessageListener;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Keeps this node's listener registered for its topics at all members.
 *
 * <p>Hazelcast 5.7.0 registers a listener at one member after the other and waits for each, so a member that does not answer holds it up. And it may
 * lose a registration: a member forgets those of an address that has left, even when the node there has just joined again, as nodes do when two halves
 * of a group meet. Such a node hears nothing any more, and no error says so. Therefore registering has a thread of its own, it is done anew when
 * another node seems silent, in ever longer intervals, and earlier registrations go when the new ones are there: messages may come twice.
 */
final class TopicListeners implements AutoCloseable {
    private static final Logger LOG = System.getLogger(TopicListeners.class.getName());

    /** A busy node may be silent for so many heartbeats. */
    private static final int PATIENCE_HEARTBEATS = 4;

    /** Registering costs a request to each member. */
    private static final int PATIENCE_PER_MEMBER_MS = 20;

    private static final int LONGEST_INTERVAL = 64;

    private final HazelcastInstance hazelcast;
    private final Supplier<List<String>> topics;
    private final MessageListener<byte[]> listener;
    private final Runnable onListening;
    private final int heartbeatMs;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("clairfs-listen").factory());
    private final AtomicBoolean isUnderWay = new AtomicBoolean();
    private volatile boolean hasFailed;
    private Registered registered;
    private long lastNs;

    /** In units of the patience. */
    private int interval = 1;

    /**
     * Listeners that {@link #begin} registers.
     *
     * @param topics their names now; a node's id is part of one, and changes
     * @param onListening is called after each registration
     * @param heartbeatMs between two signs of life of another node
     */
    TopicListeners(
            HazelcastInstance hazelcast,
            Supplier<List<String>> topics,
            MessageListener<byte[]> listener,
            Runnable onListening,
            int heartbeatMs) {
        this.hazelcast = hazelcast;
        this.topics = topics;
        this.listener = listener;
        registered = new Registered(listener);
        this.onListening = onListening;
        this.heartbeatMs = heartbeatMs;
    }

    /** Registers them, and returns when all members have answered. {@link #again} does nothing meanwhile: its newer topics would go for those of this call. */
    void begin() {
        lastNs = System.nanoTime();
        isUnderWay.set(true);
        try {
            register();
        } finally {
            isUnderWay.set(false);
        }
    }

    /** Registers them anew, on a thread of its own; where they are being registered just now, some heartbeats later. */
    void again() {
        lastNs = System.nanoTime();
        if (!isUnderWay.compareAndSet(false, true)) {
            hasFailed = true; // under names that may be old
            return;
        }
        try {
            thread.execute(() -> {
                try {
                    register();
                } catch (HazelcastInstanceNotActiveException closing) {
                    hasFailed = true;
                    LOG.log(Level.DEBUG, "no listener while closing or merging", closing);
                } catch (RuntimeException e) { // Hazelcast's own exceptions, and plain ones
                    hasFailed = true;
                    LOG.log(Level.WARNING, "cannot listen to the other nodes yet, tries again: " + e);
                } finally {
                    isUnderWay.set(false);
                }
            });
        } catch (RejectedExecutionException closing) {
            LOG.log(Level.DEBUG, "not listening any more", closing);
        }
    }

    private void register() {
        hasFailed = false;
        Registered now = new Registered(listener);
        try {
            for (String topic : topics.get()) {
                ITopic<byte[]> from = hazelcast.getTopic(topic);
                now.byTopic.put(topic, from.addMessageListener(now));
            }
        } catch (RuntimeException e) {
            end(now);
            throw e;
        }
        Registered before = registered;
        registered = now;
        onListening.run();
        end(before);
    }

    /** A registration that stays all the same, with a member that does not answer, is heard no more. */
    private void end(Registered over) {
        over.isOver = true;
        over.byTopic.forEach((topic, id) -> {
            try {
                boolean _ = hazelcast.getTopic(topic).removeMessageListener(id);
            } catch (RuntimeException e) { // the others still go
                LOG.log(Level.DEBUG, "a listener of " + topic + " stays", e);
            }
        });
    }

    /** One round of registrations, at all members for all topics. */
    private static final class Registered implements MessageListener<byte[]> {
        private final MessageListener<byte[]> listener;
        private final Map<String, UUID> byTopic = new HashMap<>();
        private volatile boolean isOver;

        Registered(MessageListener<byte[]> listener) {
            this.listener = listener;
        }

        @Override
        public void onMessage(Message<byte[]> message) {
            if (!isOver) {
                listener.onMessage(message);
            }
        }
    }

    /**
     * Registers them anew when it is time to. Called with each heartbeat, on the thread that calls {@link #again}.
     *
     * @param silentMs how long a node has been silent, the longest of all
     * @param members of the group
     */
    void heartbeat(long silentMs, int members) {
        long patienceMs = (long) PATIENCE_HEARTBEATS * heartbeatMs + (long) PATIENCE_PER_MEMBER_MS * members;
        boolean isSilent = silentMs >= patienceMs;
        if (!isSilent && !hasFailed) {
            interval = 1;
            return;
        }
        long sinceMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lastNs);
        if (isUnderWay.get() || sinceMs < interval * patienceMs) {
            return;
        }
        interval = Math.min(2 * interval, LONGEST_INTERVAL);
        LOG.log(
                isSilent ? Level.INFO : Level.DEBUG,
                "a node has been silent for " + TimeUnit.MILLISECONDS.toSeconds(silentMs) + " s; listens anew");
        again();
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
