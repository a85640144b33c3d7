package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.peer.directory.HoldingsMessage.At;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.roaringbitmap.RoaringBitmap;

/** Deltas and their healing without a network, against plain sets. */
final class HoldingsTest {
    private static final int SAMPLES = 100_000;

    private static HeldThere there() {
        return new HeldThere(new Node(
                new UUID(1, 2), "a", List.of(InetSocketAddress.createUnresolved("127.0.0.1", 1)), new byte[0], false));
    }

    private static HoldingsMessage travelled(HoldingsMessage message) throws IOException {
        return HoldingsMessage.read(HoldingsMessage.write(message), SAMPLES);
    }

    private static void assertSame(HeldThere there, int tier, BitSet expected) {
        RoaringBitmap held = there.held(tier);
        assertThat(held.getCardinality()).isEqualTo(expected.cardinality());
        assertThat(held.stream().allMatch(expected::get)).isTrue();
    }

    @Test
    void deltas_lostAndLateOnes_healByTheWhole() throws IOException {
        long seed = 1;
        Random random = new Random(seed);
        HeldHere here = new HeldHere(SAMPLES, seed);
        HeldThere there = there();
        BitSet[] expected = {new BitSet(), new BitSet()};
        List<HoldingsMessage> late = new ArrayList<>();
        int healed = 0;
        for (int round = 0; round < 500; round++) {
            for (int i = 0; i < 50; i++) {
                int tier = random.nextInt(2);
                int sample = random.nextInt(SAMPLES);
                if (random.nextInt(3) == 0 && !expected[tier].isEmpty()) {
                    sample = expected[tier].nextSetBit(random.nextInt(expected[tier].length()));
                    here.removed(tier, sample);
                    expected[tier].clear(sample);
                } else {
                    here.added(tier, sample);
                    expected[tier].set(sample);
                }
            }
            for (HoldingsMessage delta : here.deltas()) {
                int fate = random.nextInt(10);
                if (fate == 0) {
                    late.add(delta);
                } else if (fate > 1 && !there.apply(travelled(delta))) {
                    // while the whole is on its way, more happens here
                    here.added(0, 1);
                    expected[0].set(1);
                    for (HoldingsMessage whole : here.whole()) {
                        assertThat(there.apply(travelled(whole))).isTrue();
                    }
                    healed++;
                }
            }
            if (random.nextInt(5) == 0 && !late.isEmpty()) {
                there.apply(travelled(late.remove(random.nextInt(late.size()))));
            }
        }
        here.deltas().forEach(there::apply);
        for (HoldingsMessage reminder : here.reminders()) {
            if (!there.apply(travelled(reminder))) {
                here.whole().forEach(there::apply);
            }
        }
        assertThat(healed).isPositive();
        assertSame(there, 0, expected[0]);
        assertSame(there, 1, expected[1]);
        BitSet inEither = (BitSet) expected[0].clone();
        inEither.or(expected[1]);
        assertThat(there.count()).as("each once").isEqualTo(inEither.cardinality());
    }

    @Test
    void reminder_ofAnotherIncarnation_asksForTheWhole() {
        HeldThere there = there();
        assertThat(there.apply(
                        new HoldingsMessage.Delta(new At(0, 7, 1), RoaringBitmap.bitmapOf(5), new RoaringBitmap())))
                .isTrue();
        assertThat(there.apply(new HoldingsMessage.Reminder(new At(0, 7, 1)))).isTrue();
        assertThat(there.apply(new HoldingsMessage.Reminder(new At(0, 8, 1)))).isFalse();
        assertThat(there.apply(
                        new HoldingsMessage.Delta(new At(0, 8, 2), RoaringBitmap.bitmapOf(6), new RoaringBitmap())))
                .isFalse();
        assertThat(there.apply(new HoldingsMessage.Whole(new At(0, 8, 1), RoaringBitmap.bitmapOf(9))))
                .isTrue();
        assertThat(there.holds(5)).isFalse();
        assertThat(there.tier(9)).isZero();
    }

    @Test
    void read_damaged_isRefused() {
        long seed = 1;
        Random random = new Random(seed);
        byte[] good =
                HoldingsMessage.write(new HoldingsMessage.Whole(new At(0, 1, 1), RoaringBitmap.bitmapOf(1, 2, 70_000)));
        assertThatThrownBy(() -> HoldingsMessage.read(good, 70_000)).hasMessageContaining("beyond");
        for (int i = 0; i < 20_000; i++) {
            byte[] bad = java.util.Arrays.copyOf(good, 1 + random.nextInt(good.length));
            bad[random.nextInt(bad.length)] = (byte) random.nextInt();
            try {
                HoldingsMessage.read(bad, SAMPLES);
            } catch (IOException refused) {
                assertThat(refused).isNotNull();
            }
        }
    }

    @Test
    void fourteenMillionSamples_takeAtMostTwoMegabytes() {
        int samples = 14_197_122;
        Random random = new Random(1);
        for (double share : new double[] {1.0 / 64, 1.0 / 8, 0.5, 1.0}) {
            HeldHere here = new HeldHere(samples, 1);
            HeldThere there = there();
            for (int sample = 0; sample < samples; sample++) {
                if (random.nextDouble() < share) {
                    here.added(0, sample);
                    if (sample % 1_000_000 == 0) {
                        here.deltas().forEach(there::apply);
                    }
                }
            }
            here.deltas().forEach(there::apply);
            long filled = there.held(0).getLongSizeInBytes();
            byte[] whole = HoldingsMessage.write(here.whole().getFirst());
            long start = System.nanoTime();
            long holders = 0;
            for (int i = 0; i < 1_000_000; i++) {
                holders += there.holds(i * 14) ? 1 : 0;
            }
            System.out.printf(
                    "%.3f of 14.2 M samples: %,d bytes here, %,d bytes as a message, %.0f ns a look (%d)%n",
                    share, filled, whole.length, (System.nanoTime() - start) / 1e6, holders);
            assertThat(filled).isLessThan(2_000_000);
            assertThat(whole.length).isLessThan(2_000_000);
        }
    }

    @Test
    void setOfMoreNumbersThanThereAreSamples_isRefusedBeforeItIsWalked() {
        RoaringBitmap all = new RoaringBitmap();
        all.add(0L, 1L << 32); // 65,536 runs, less than a MB
        byte[] message = HoldingsMessage.write(new HoldingsMessage.Whole(new HoldingsMessage.At(0, 1, 1), all));
        assertThatThrownBy(() -> HoldingsMessage.read(message, 1_000))
                .hasMessageContaining("more samples than the dataset has");
    }
}
