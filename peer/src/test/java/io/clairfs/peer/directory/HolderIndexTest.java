package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.peer.directory.HoldingsMessage.At;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.roaringbitmap.RoaringBitmap;

/** Large groups: the index of holders says what a search of all nodes says. */
final class HolderIndexTest {
    private static final int SAMPLES = 300;
    private static final int SEARCHED = 3;

    /** One node of the model: what it holds, by tier. */
    private record Member(Node node, HeldHere here, List<BitSet> tiers) {
        Member(int name, Random random) {
            this(
                    new Node(
                            new UUID(random.nextLong(), random.nextLong()),
                            "node%03d".formatted(name),
                            List.of(InetSocketAddress.createUnresolved("127.0.0.1", 1)),
                            new byte[0],
                            false),
                    new HeldHere(SAMPLES, random.nextLong()),
                    List.of(new BitSet(), new BitSet()));
        }

        boolean holds(int sample) {
            return tiers.get(0).get(sample) || tiers.get(1).get(sample);
        }

        void change(Random random, int inTen) {
            int tier = random.nextInt(2);
            int sample = random.nextInt(SAMPLES);
            if (random.nextInt(10) < inTen) {
                here.added(tier, sample);
                tiers.get(tier).set(sample);
            } else {
                here.removed(tier, sample);
                tiers.get(tier).clear(sample);
            }
        }
    }

    private static void tell(List<HoldingsMessage> messages, @Nullable HeldThere there) {
        assertThat(there).isNotNull();
        for (HoldingsMessage message : messages) {
            assertThat(there.apply(message)).isTrue();
        }
    }

    private static void assertHolders(HeldElsewhere elsewhere, List<Member> members) {
        HeldElsewhere.View view = elsewhere.view();
        assertThat(view.nodes()).isEqualTo(members.size());
        for (int sample = 0; sample < SAMPLES; sample++) {
            int each = sample;
            List<String> expected = members.stream()
                    .filter(member -> member.holds(each))
                    .map(member -> member.node().name())
                    .sorted()
                    .toList();
            List<String> found = new ArrayList<>();
            for (int i = view.nextHolder(sample, 0); i >= 0; i = view.nextHolder(sample, i + 1)) {
                found.add(view.node(i).name());
            }
            assertThat(found).as("holders of sample %d", sample).isEqualTo(expected);
        }
    }

    /** Nodes join, change what they hold, send all of it, leave; so slots pass from one node to the next. */
    private static void anyChanges(int mostNodes, int inTen, long seed) {
        Random random = new Random(seed);
        HeldElsewhere elsewhere = new HeldElsewhere(SAMPLES, SEARCHED);
        List<Member> members = new ArrayList<>();
        int names = 0;
        for (int step = 0; step < 150; step++) {
            int kind = random.nextInt(10);
            if (kind < 2 && members.size() < mostNodes) {
                members.add(random.nextInt(members.size() + 1), new Member(names++ * 7 % 100, random));
            } else if (kind == 2 && !members.isEmpty()) {
                members.remove(random.nextInt(members.size()));
            }
            elsewhere.nodes(members.stream().map(Member::node).toList());
            for (Member member : members) {
                for (int i = 0; i < 20; i++) {
                    member.change(random, inTen);
                }
                List<HoldingsMessage> deltas = member.here().deltas();
                if (kind == 3) {
                    tell(member.here().whole(), elsewhere.of(member.node().id()));
                }
                tell(deltas, elsewhere.of(member.node().id()));
            }
            assertHolders(elsewhere, members);
        }
    }

    @Test
    void holders_ofASmallAndALargeGroup_areThoseOfTheModel() {
        anyChanges(2 * SEARCHED, 4, 1);
        anyChanges(20, 3, 2);
    }

    @Test
    void holders_whereTooManyHoldASample_areStillAllFound() {
        anyChanges(20, 9, 3);
    }

    @Test
    void messageOfANodeThatHasLeft_doesNotCountForTheNextOneInItsSlot() {
        Random random = new Random(1);
        HeldElsewhere elsewhere = new HeldElsewhere(SAMPLES, 0);
        Member first = new Member(1, random);
        elsewhere.nodes(List.of(first.node()));
        HeldThere left = elsewhere.of(first.node().id());
        assertThat(left).isNotNull();
        int slot = left.slot();
        left.apply(new HoldingsMessage.Delta(new At(0, 1, 1), RoaringBitmap.bitmapOf(1, 2), new RoaringBitmap()));
        assertThat(elsewhere.view().nextHolder(1, 0)).isZero();
        Member second = new Member(2, random);
        for (int slots = 0; slots < HolderIndex.SLOTS; slots++) { // they are used in turn
            elsewhere.nodes(List.of());
            elsewhere.nodes(List.of(second.node()));
        }
        left.apply(new HoldingsMessage.Delta(new At(0, 1, 2), RoaringBitmap.bitmapOf(3), new RoaringBitmap()));
        HeldThere next = elsewhere.of(second.node().id());
        assertThat(next).isNotNull();
        assertThat(next.slot()).isEqualTo(slot);
        next.apply(new HoldingsMessage.Delta(new At(0, 5, 1), RoaringBitmap.bitmapOf(2), new RoaringBitmap()));
        assertThat(elsewhere.view().nextHolder(1, 0)).isEqualTo(-1);
        assertThat(elsewhere.view().nextHolder(2, 0)).isZero();
        assertThat(elsewhere.view().nextHolder(3, 0)).isEqualTo(-1);
    }

    @Test
    void holders_thatStay_areFoundWhileOthersOfTheirBlockChange() throws InterruptedException {
        HolderIndex index = new HolderIndex(SAMPLES);
        HeldThere[] nodes = new HeldThere[4];
        for (int slot = 0; slot < nodes.length; slot++) {
            nodes[slot] = new HeldThere(new Member(slot, new Random(slot)).node());
            nodes[slot].enter(index, slot);
            nodes[slot].apply(
                    new HoldingsMessage.Delta(new At(0, 1, 1), RoaringBitmap.bitmapOf(64), new RoaringBitmap()));
        }
        CountDownLatch writers = new CountDownLatch(nodes.length);
        for (HeldThere node : nodes) {
            var _ = Thread.ofPlatform().daemon().start(() -> {
                RoaringBitmap others = RoaringBitmap.bitmapOf(65, 66, 67, 68, 127);
                for (int sequence = 2; sequence < 4_000; sequence += 2) {
                    node.apply(new HoldingsMessage.Delta(new At(0, 1, sequence), others, new RoaringBitmap()));
                    node.apply(new HoldingsMessage.Delta(new At(0, 1, sequence + 1), new RoaringBitmap(), others));
                }
                writers.countDown();
            });
        }
        int[] numberOf = IntStream.range(0, HolderIndex.SLOTS)
                .map(slot -> slot < nodes.length ? slot : -1)
                .toArray();
        do {
            for (int from = 0; from < nodes.length; from++) {
                assertThat(index.nextHolder(64, from, numberOf)).isEqualTo(from);
            }
        } while (writers.getCount() > 0);
        writers.await();
        for (int sample = 65; sample < 128; sample++) {
            assertThat(index.nextHolder(sample, 0, numberOf)).isEqualTo(-1);
        }
    }
}
