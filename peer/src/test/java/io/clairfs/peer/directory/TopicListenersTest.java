package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.topic.ITopic;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which topics a node listens to, when members answer late. */
@Timeout(60)
final class TopicListenersTest {
    private final CountDownLatch isAsked = new CountDownLatch(1);
    private final CountDownLatch membersAnswer = new CountDownLatch(1);

    /** The topics that are listened to, by registration. */
    private final Map<UUID, String> heard = new ConcurrentHashMap<>();

    private volatile String name = "before the merge";

    private Object ofTopic(String topic, String method, Object argument) throws InterruptedException {
        return switch (method) {
            case "addMessageListener" -> registered(topic);
            case "removeMessageListener" -> heard.remove((UUID) argument) != null;
            default -> throw new UnsupportedOperationException(method);
        };
    }

    /** Members answer to the first registration when the test says so, and to the others at once. */
    private UUID registered(String topic) throws InterruptedException {
        if (topic.equals("before the merge")) {
            isAsked.countDown();
            membersAnswer.await();
        }
        UUID id = UUID.randomUUID();
        heard.put(id, topic);
        return id;
    }

    private HazelcastInstance members() {
        return proxy(
                HazelcastInstance.class,
                (_, _, topic) -> proxy(
                        ITopic.class,
                        (_, method, arguments) -> ofTopic((String) topic[0], method.getName(), arguments[0])));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Test
    void topicsThatChangeWhileTheFirstAreRegistered_areThoseThatStay() throws Exception {
        try (TopicListeners listeners = new TopicListeners(members(), () -> List.of(name), _ -> {}, () -> {}, 0)) {
            Thread joining = Thread.ofPlatform().start(listeners::begin);
            isAsked.await();
            name = "after the merge";
            listeners.again();
            membersAnswer.countDown();
            joining.join();
            while (!List.copyOf(heard.values()).equals(List.of("after the merge"))) { // the class's timeout ends it
                listeners.heartbeat(0, 1);
                Thread.sleep(1);
            }
            assertThat(heard).hasSize(1);
        }
    }
}
