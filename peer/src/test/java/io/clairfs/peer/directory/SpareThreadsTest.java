package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What nodes announce that they can make for others, between this version and earlier ones. */
final class SpareThreadsTest {
    private static final int SAMPLES = 10;

    private static HoldingsMessage read(byte[] bytes) throws Exception {
        return HoldingsMessage.read(bytes, SAMPLES);
    }

    @Test
    void announcement_travelsWithTheHeartbeat_andIsForgottenWithSilence() throws Exception {
        HeldElsewhere others = new HeldElsewhere(SAMPLES);
        Node node = new Node(
                new UUID(1, 2), "n", List.of(InetSocketAddress.createUnresolved("localhost", 1)), new byte[0], false);
        others.nodes(List.of(node));
        assertThat(others.view().spare(0)).isEqualTo(SpareThreads.NONE);
        HeldThere there = others.of(node.id());
        assertThat(there).isNotNull();
        assertThat(there.apply(read(HoldingsMessage.write(new HoldingsMessage.Here(new SpareThreads(3, 70_000))))))
                .isTrue();
        assertThat(others.view().spare(0, Long.MAX_VALUE)).isEqualTo(new SpareThreads(3, 0xFFFF));
        assertThat(others.view().spare(0, -1)).as("heard too long ago").isEqualTo(SpareThreads.NONE);
        there.apply(new HoldingsMessage.Here(SpareThreads.NONE));
        assertThat(others.view().spare(0)).isEqualTo(SpareThreads.NONE);
    }

    @Test
    void heartbeatOfAnEarlierVersion_announcesNothing() throws Exception {
        byte[] now = HoldingsMessage.write(new HoldingsMessage.Here(new SpareThreads(3, 1)));
        byte[] before = Arrays.copyOf(now, HoldingsMessage.HEAD_BYTES);
        assertThat(read(before)).isEqualTo(new HoldingsMessage.Here(SpareThreads.NONE));
    }
}
