package io.clairfs.tools.node.limits;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The default sizes of areas. */
final class MemoryBudgetTest {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final long USUAL_HEAP = 16 * GIB;

    private static MemoryBudget inGroup(long bytes, int ssds, boolean hasPeers) {
        return MemoryBudget.of(
                new MachineMemory(1L << 40, 1L << 40, bytes), Math.min(USUAL_HEAP, bytes / 4), ssds, hasPeers);
    }

    // Promise M5
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 4, 8, 16, 64, 512})
    void inAControlGroup_allAreasTogetherTakeLittleMoreThanHalfOfIt(long gib) {
        for (int ssds = 0; ssds <= 4; ssds++) {
            for (boolean hasPeers : new boolean[] {false, true}) {
                MemoryBudget areas = inGroup(gib * GIB, ssds, hasPeers);
                assertThat(areas.totalBytes(ssds, hasPeers))
                        .as("%s, %d disks", areas, ssds)
                        .isLessThanOrEqualTo(gib == 1 ? gib * GIB * 5 / 8 : gib * GIB / 2);
                assertThat(areas.memoryBytes()).isGreaterThanOrEqualTo(gib * GIB / 32);
            }
        }
    }

    @Test
    void twoGibibytes_areSharedOutAsDocumented() {
        assertThat(inGroup(2 * GIB, 0, false))
                .isEqualTo(new MemoryBudget(256 * MIB, 192 * MIB, 256 * MIB, 128 * MIB, 64 * MIB, 64 * MIB, 32 * MIB));
    }

    @Test
    void machineWithPlenty_hasTheUsualSizes() {
        MemoryBudget areas =
                MemoryBudget.of(new MachineMemory(64 * GIB, 64 * GIB, Long.MAX_VALUE), USUAL_HEAP, 1, true);
        assertThat(areas)
                .isEqualTo(new MemoryBudget(USUAL_HEAP, 16 * GIB, GIB, 512 * MIB, 256 * MIB, 256 * MIB, 64 * MIB));
    }

    @Test
    void nothingLeft_isALittleOfEach() {
        MemoryBudget areas = inGroup(0, 1, true);
        assertThat(areas.memoryBytes()).isEqualTo(MIB);
        assertThat(areas.stagingBytes()).isEqualTo(MIB);
    }

    @Test
    void areas_areThoseThatWereSaid_andAddUpToTheTotal() {
        MemoryBudget budget = MemoryBudget.of(
                        new MachineMemory(64L << 30, 64L << 30, Long.MAX_VALUE), 1L << 30, 2, true)
                .with(7, 9);
        assertThat(budget.areas(2, true)).containsEntry("memory", 7L).containsEntry("staging", 9L);
        assertThat(budget.areas(2, true).values().stream()
                        .mapToLong(bytes -> bytes)
                        .sum())
                .isEqualTo(budget.totalBytes(2, true))
                .isGreaterThan(budget.totalBytes(0, false));
        assertThat(budget.areas(0, false)).containsEntry("write_back", 0L).containsEntry("peers", 0L);
    }

    // Promise M6
    @ParameterizedTest
    @ValueSource(longs = {1, 4, 64})
    void mostMemory_fitsIntoTheLimitTogetherWithAllThatTheKernelCannotTakeBack(long gib) {
        MachineMemory group = new MachineMemory(1L << 40, 1L << 40, gib * GIB);
        MemoryBudget usual = MemoryBudget.of(group, USUAL_HEAP, 2, true);
        long most = usual.mostMemoryBytes(group, 2, true);
        MemoryBudget fitting = usual.withHeapBeside(most, group, 2, true);
        assertThat(fitting.with(most, 0).totalBytes(2, true)).isEqualTo(gib * GIB);
        assertThat(fitting.heapBytes()).isEqualTo(96 * MIB);
    }

    @Test
    void heap_shrinksForAMemoryThatWasSaid_andOnlyThen() {
        MachineMemory machine = new MachineMemory(64 * GIB, 50 * GIB, Long.MAX_VALUE);
        MemoryBudget usual = MemoryBudget.of(machine, USUAL_HEAP, 0, false);
        assertThat(usual.withHeapBeside(40 * GIB, machine, 0, false)).isEqualTo(usual);
        MemoryBudget large = usual.withHeapBeside(60 * GIB, machine, 0, false);
        assertThat(large.heapBytes()).isLessThan(4 * GIB);
        assertThat(large.with(60 * GIB, 0).totalBytes(0, false)).isEqualTo(64 * GIB);
    }

    @Test
    void noMemoryFits_whereNotEvenTheJvmDoes() {
        MachineMemory tiny = new MachineMemory(1L << 40, 1L << 40, 100 * MIB);
        assertThat(MemoryBudget.of(tiny, 25 * MIB, 0, false).mostMemoryBytes(tiny, 0, false))
                .isZero();
    }
}
