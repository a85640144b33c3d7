package io.clairfs.tools.node.seed;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BeginningTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final Beginning reads = new Beginning(0);

    @Test
    void files_areInTheOrderOfTheRequests() {
        assertThat(reads.add(7, 30, 1)).isEqualTo(1);
        assertThat(reads.add(-8, 0, 2)).isEqualTo(2);
        assertThat(reads.add(7, Integer.MAX_VALUE - 1, 3)).isEqualTo(3);
        assertThat(reads.files()).containsExactly(30, 0, Integer.MAX_VALUE - 1);
    }

    @Test
    void add_toAFullOne_isNotKept() {
        for (int i = 0; i < Beginning.MOST; i++) {
            assertThat(reads.add(1, i, 0)).isEqualTo(i + 1);
        }
        assertThat(reads.add(1, 5, 0)).isZero();
        assertThat(reads.count()).isEqualTo(Beginning.MOST);
        assertThat(reads.files()).hasSize(Beginning.MOST);
    }

    @Test
    void anotherThreadAfterSilence_beginsAnotherTraining() {
        assertThat(reads.isOverFor(1, 100 * SECOND)).as("nobody has read yet").isFalse();
        reads.add(1, 0, 100 * SECOND);
        assertThat(reads.isOverFor(2, 101 * SECOND)).as("a second worker").isFalse();
        assertThat(reads.isOverFor(1, 200 * SECOND)).as("a step that took long").isFalse();
        assertThat(reads.isOverFor(2, 200 * SECOND)).isTrue();
    }

    @Test
    void onceSearched_theNextEpochIsAnotherBeginning() {
        reads.add(1, 0, 9 * SECOND);
        reads.searched();
        assertThat(reads.isOverFor(1, 10 * SECOND)).isFalse();
        assertThat(reads.isOverFor(2, 10 * SECOND)).as("a worker that was late").isFalse();
        assertThat(reads.isOverFor(2, 11 * SECOND))
                .as("a worker of the next epoch")
                .isTrue();
        assertThat(reads.isOverFor(1, 12 * SECOND))
                .as("the same worker after a validation")
                .isTrue();
    }
}
