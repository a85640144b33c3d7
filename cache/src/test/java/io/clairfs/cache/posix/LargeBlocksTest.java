package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Blocks that are kept for the next samples, with a clock of the test's own. */
final class LargeBlocksTest {
    private static final long MIB = 1 << 20;
    private static final NativeFunction MALLOC = NativeFunction.of("malloc");

    private final List<Runnable> looks = new ArrayList<>();
    private final LargeBlocks blocks = new LargeBlocks(() -> this.nowNs, looks::add);
    private long nowNs;

    private static long block(long bytes) {
        long address = MALLOC.call(bytes);
        assertThat(address).isNotZero();
        return address;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    private void look() {
        List<Runnable> due = List.copyOf(looks);
        looks.clear();
        due.forEach(Runnable::run);
    }

    @Test
    void freedBlock_isTheNextOne_withItsPagesAndAnotherSize() {
        blocks.keep(200 * MIB);
        long first = block(64 * MIB);
        at(first, 64 * MIB).set(JAVA_LONG, 40 * MIB, 17);
        blocks.free(first, 64 * MIB);
        assertThat(blocks.keptBytes()).isEqualTo(64 * MIB);
        assertThat(blocks.take(64 * MIB)).isEqualTo(first);
        assertThat(blocks.keptBytes()).isZero();
        assertThat(blocks.take(64 * MIB)).as("none is left").isZero();
        for (long bytes : List.of(48 * MIB + 104, 100 * MIB)) {
            long before = first;
            blocks.free(before, 64 * MIB);
            first = blocks.take(bytes);
            assertThat(first).isNotZero();
            assertThat(at(first, bytes).get(JAVA_LONG, 40 * MIB)).isEqualTo(17);
            at(first, bytes).set(JAVA_LONG, bytes - Long.BYTES, 1);
        }
        blocks.free(first, 100 * MIB);
        nowNs += LargeBlocks.KEPT_NS;
        look();
        assertThat(blocks.keptBytes()).isZero();
    }

    @Test
    void theBlockIsTaken_whoseSizeIsClosest() {
        blocks.keep(500 * MIB);
        long small = block(40 * MIB);
        long large = block(90 * MIB);
        blocks.free(large, 90 * MIB);
        blocks.free(small, 40 * MIB);
        assertThat(blocks.take(40 * MIB)).isEqualTo(small);
        assertThat(blocks.take(90 * MIB)).isEqualTo(large);
        blocks.keep(0);
        blocks.free(small, 40 * MIB);
        blocks.free(large, 90 * MIB);
        assertThat(blocks.keptBytes()).isZero();
    }

    @Test
    void blocksThatNobodyTakes_areFreedAfterAWhile_andTheOldestForWhatIsTooMuch() {
        blocks.keep(100 * MIB);
        blocks.free(block(40 * MIB), 40 * MIB);
        assertThat(looks).hasSize(1);
        nowNs += LargeBlocks.KEPT_NS / 2;
        blocks.free(block(50 * MIB), 50 * MIB);
        assertThat(looks).as("one is enough").hasSize(1);
        nowNs += LargeBlocks.KEPT_NS / 2;
        look();
        assertThat(blocks.keptBytes()).as("the younger").isEqualTo(50 * MIB);
        assertThat(looks).hasSize(1);
        blocks.free(block(60 * MIB), 60 * MIB);
        assertThat(blocks.keptBytes()).as("100 MiB at most").isEqualTo(60 * MIB);
        nowNs += LargeBlocks.KEPT_NS;
        look();
        assertThat(blocks.keptBytes()).isZero();
        assertThat(looks).as("none for nothing").isEmpty();
    }

    @Test
    void blocksAreDropped_whereTheyAreTooMuch_andWhereNobodyCanLook() {
        blocks.keep(200 * MIB);
        for (int i = 0; i < 3; i++) {
            blocks.free(block(40 * MIB), 40 * MIB);
        }
        blocks.drop(41 * MIB);
        assertThat(blocks.keptBytes()).isEqualTo(40 * MIB);
        blocks.drop(100 * MIB);
        assertThat(blocks.keptBytes()).isZero();
        LargeBlocks withoutThreads = new LargeBlocks(() -> 0, _ -> {
            throw new OutOfMemoryError("no thread");
        });
        withoutThreads.keep(200 * MIB);
        withoutThreads.free(block(40 * MIB), 40 * MIB);
        assertThat(withoutThreads.keptBytes()).isZero();
    }

    @Test
    void nothingIsKept_unlessItIsAllowed() {
        blocks.free(block(40 * MIB), 40 * MIB);
        assertThat(blocks.keptBytes()).isZero();
        assertThat(looks).isEmpty();
    }
}
