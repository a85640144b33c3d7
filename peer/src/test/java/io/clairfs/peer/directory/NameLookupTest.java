package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Look-ups of many names by name servers that know some, and by one that does not answer. */
@Timeout(120)
final class NameLookupTest {
    /** Longer than a machine stands still. */
    private static final long PATIENCE_MS = 100_000;

    @Test
    void namesThatAreKnown_haveTheirAddresses_andEachIsAskedForOnce() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        NameLookup.Servers servers = name -> {
            asked.incrementAndGet();
            if (name.equals("nowhere.test")) {
                throw new UnknownHostException(name);
            }
            return InetAddress.getAllByName(name);
        };
        var found = NameLookup.of(List.of("10.0.0.1", "nowhere.test", "10.0.0.2", "10.0.0.1"), servers, PATIENCE_MS);
        assertThat(found).containsOnlyKeys("10.0.0.1", "10.0.0.2", "nowhere.test");
        assertThat(found.get("10.0.0.1")).containsExactly(InetAddress.getByName("10.0.0.1"));
        assertThat(found.get("10.0.0.2")).containsExactly(InetAddress.getByName("10.0.0.2"));
        assertThat(found.get("nowhere.test")).isEmpty();
        assertThat(asked).hasValue(3);
    }

    @Test
    void serverThatDoesNotAnswer_isWaitedForNoLongerThanTheBound_alsoWithMoreNamesThanThreads() {
        CountDownLatch answers = new CountDownLatch(1);
        List<String> names = IntStream.range(0, 100).mapToObj(i -> "n" + i).toList();
        NameLookup.Servers silent = name -> {
            try {
                answers.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            throw new UnknownHostException(name);
        };
        try {
            assertThat(NameLookup.of(names, silent, 1))
                    .hasSize(100)
                    .allSatisfy((_, found) -> assertThat(found).isEmpty());
        } finally {
            answers.countDown();
        }
    }
}
