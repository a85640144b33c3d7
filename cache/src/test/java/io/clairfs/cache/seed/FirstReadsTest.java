package io.clairfs.cache.seed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class FirstReadsTest {
    private final FirstReads reads = new FirstReads(10_000);

    @Test
    void snapshot_has_the_reads_by_reader_and_in_order() {
        reads.read(7, 1);
        reads.read(9, 2);
        reads.read(7, 3);
        FirstReads.Snapshot snapshot = reads.snapshot();
        reads.read(7, 4);
        assertThat(snapshot.count()).isEqualTo(3);
        assertThat(snapshot.readers()).isEqualTo(2);
        assertThat(snapshot.count(0)).isEqualTo(2);
        assertThat(snapshot.sample(0, 0)).isEqualTo(1);
        assertThat(snapshot.sample(0, 1)).isEqualTo(3);
        assertThat(snapshot.sample(1, 0)).isEqualTo(2);
        assertThat(snapshot.sample(1)).isEqualTo(2);
        assertThat(snapshot.reader(1)).isEqualTo(1);
    }

    @Test
    void read_thatIsRepeatedRightAway_countsOnce() {
        reads.read(7, 1);
        reads.read(9, 1);
        reads.read(7, 1);
        reads.read(7, 2);
        reads.read(7, 1);
        assertThat(reads.count()).isEqualTo(4);
    }

    @Test
    void read_ofAnUnknownReader_isTold() {
        reads.read(5, 1);
        reads.read(FirstReads.UNKNOWN, 1);
        assertThat(reads.snapshot().isUnknown(0)).isFalse();
        assertThat(reads.snapshot().isUnknown(1)).isTrue();
    }

    @Test
    void reads_andReaders_areBounded() {
        for (int reader = 1; reader <= FirstReads.MOST_READERS + 1; reader++) {
            reads.read(reader, reader);
        }
        assertThat(reads.count()).isEqualTo(FirstReads.MOST_READERS);
        for (int i = 0; i < 2 * FirstReads.MOST_READS; i++) {
            reads.read(1, i);
        }
        assertThat(reads.count()).isEqualTo(FirstReads.MOST_READS);
        reads.clear();
        assertThat(reads.snapshot().count()).isZero();
        reads.read(FirstReads.MOST_READERS + 1, 1);
        assertThat(reads.count()).isEqualTo(1);
    }

    @Test
    void read_ofNoSample_isRefused() {
        assertThatThrownBy(() -> reads.read(1, 10_000)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> reads.read(1, -1)).isInstanceOf(IllegalArgumentException.class);
    }
}
