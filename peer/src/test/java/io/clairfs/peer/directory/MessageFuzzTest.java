package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.clairfs.peer.directory.HoldingsMessage.At;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.roaringbitmap.IntIterator;
import org.roaringbitmap.RoaringBitmap;

/**
 * Messages and lists that nobody wrote are refused, or mean something.
 *
 * <p>{@code -Dclairfs.fuzz.seed=N} tries others, {@code -Dclairfs.fuzz.factor=N} makes it N times as long.
 */
@Tag("long")
final class MessageFuzzTest {
    private static final int SAMPLES = 200_000;
    private static final int MESSAGES = 5_000;
    private static final int LISTS = 60_000;
    private static final String LIST = "node[01-03,7],login,rack[1-2]n[1-4]";
    private static final String SIGNS = "[],-0123456789ab ";

    private final long seed = Long.getLong("clairfs.fuzz.seed", 1);
    private final Random random = new Random(seed);
    private final long factor = Integer.getInteger("clairfs.fuzz.factor", 1);

    private RoaringBitmap set() {
        RoaringBitmap set = new RoaringBitmap();
        int from = random.nextInt(SAMPLES);
        switch (random.nextInt(3)) {
            case 0 -> set.add((long) from, Math.min(SAMPLES, from + (long) random.nextInt(100_000)));
            case 1 -> random.ints(6_000, 0, SAMPLES).forEach(set::add);
            default -> random.ints(20, 0, SAMPLES).forEach(set::add);
        }
        set.runOptimize();
        return set;
    }

    private HoldingsMessage message() {
        At at = new At(random.nextInt(HeldHere.MOST_TIERS), random.nextInt(3), random.nextInt(3));
        return switch (random.nextInt(4)) {
            case 0 -> new HoldingsMessage.Delta(at, set(), set());
            case 1 -> new HoldingsMessage.Whole(at, set());
            case 2 -> new HoldingsMessage.Reminder(at);
            default -> new HoldingsMessage.Ask();
        };
    }

    private byte[] mutated(byte[] bytes) {
        byte[] changed =
                Arrays.copyOf(bytes, random.nextInt(4) == 0 ? random.nextInt(bytes.length + 20) : bytes.length);
        for (int left = random.nextInt(6); left > 0 && changed.length > 0; left--) {
            // Most of what can go wrong stands at the beginning.
            int at = random.nextInt(random.nextBoolean() ? Math.min(64, changed.length) : changed.length);
            changed[at] =
                    random.nextBoolean() ? (byte) random.nextInt(256) : (byte) (changed[at] ^ 1 << random.nextInt(8));
        }
        return changed;
    }

    // Promise P11
    @Test
    void holdings_areRefusedOrWithinTheDataset() throws Exception {
        System.out.println("fuzz holdings: seed " + seed);
        HeldThere there = new HeldThere(new Node(
                new UUID(1, 2), "a", List.of(InetSocketAddress.createUnresolved("127.0.0.1", 1)), new byte[0], false));
        int taken = 0;
        int refused = 0;
        while (taken + refused < MESSAGES * factor) {
            byte[] bytes = mutated(HoldingsMessage.write(message()));
            try {
                there.apply(HoldingsMessage.read(bytes, SAMPLES));
                taken++;
            } catch (IOException e) {
                refused++;
            } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
                fail("seed " + seed + ", after " + (taken + refused) + " messages", e);
            }
            if (random.nextInt(50) == 0) {
                for (int tier = 0; tier < HeldHere.MOST_TIERS; tier++) {
                    requireSound(there.held(tier));
                }
            }
        }
        System.out.println("fuzz holdings: " + taken + " taken, " + refused + " refused");
        assertThat(taken).isPositive();
        assertThat(refused).isPositive();
    }

    private void requireSound(RoaringBitmap set) {
        int before = -1;
        int count = 0;
        for (IntIterator numbers = set.getIntIterator(); numbers.hasNext(); count++) {
            int number = numbers.next();
            assertThat(number).as("seed " + seed).isBetween(before + 1, SAMPLES - 1);
            before = number;
        }
        assertThat(count).as("seed " + seed).isEqualTo(set.getCardinality());
    }

    // Promise P11
    @Test
    void slurmList_isRefusedOrNamesNodes() {
        System.out.println("fuzz Slurm's lists: seed " + seed);
        int taken = 0;
        int refused = 0;
        while (taken + refused < LISTS * factor) {
            StringBuilder list = new StringBuilder(LIST);
            for (int left = random.nextInt(6); left > 0; left--) {
                int at = random.nextInt(list.length() + 1);
                String piece = String.valueOf(SIGNS.charAt(random.nextInt(SIGNS.length())));
                list.insert(at, piece.repeat(random.nextInt(8) == 0 ? random.nextInt(20_000) : 1));
                int from = random.nextInt(list.length() + 1);
                list.delete(from, Math.min(list.length(), from + random.nextInt(3)));
            }
            try {
                assertThat(SlurmNodeList.expand(list.toString()))
                        .allMatch(name -> !name.isEmpty() && name.length() < 1000);
                taken++;
            } catch (IllegalArgumentException e) {
                assertThat(e.getMessage())
                        .startsWith("Slurm's list")
                        .doesNotContain("\n")
                        .hasSizeLessThan(1000);
                refused++;
            }
        }
        System.out.println("fuzz Slurm's lists: " + taken + " taken, " + refused + " refused");
        assertThat(taken).isPositive();
        assertThat(refused).isPositive();
    }
}
