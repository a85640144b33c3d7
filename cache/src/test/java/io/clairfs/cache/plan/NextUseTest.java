package io.clairfs.cache.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.plan.request.EpochSource;
import io.clairfs.cache.plan.request.Need;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The epoch of a node's next use, against a look through all orders. */
final class NextUseTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 90})
    void after_isTheNextEpochInWhichARankOfTheNodeReadsTheSample(int firstEpoch) throws InvalidSpecException {
        int samples = 50;
        int[] nodeOfRank = {0, 1, 1, -1, 2};
        EpochSource orders = PlanCases.torchDistributed(samples, nodeOfRank.length, 4);
        Need need = new Need(orders, 0, 100, nodeOfRank);
        NextUse[] tables = NextUse.ofNodes(need, samples, new int[] {2, 1}, firstEpoch);
        int end = Math.min(100, firstEpoch + NextUse.EPOCHS);
        assertThat(tables[0].endEpoch()).isEqualTo(end);
        for (int epoch = Math.max(0, firstEpoch - 1); epoch < end; epoch++) {
            for (int sample = 0; sample < samples; sample++) {
                assertThat(tables[0].after(epoch, sample))
                        .isEqualTo(search(orders, sample, epoch + 1, end, new int[] {4}));
                assertThat(tables[1].after(epoch, sample))
                        .isEqualTo(search(orders, sample, epoch + 1, end, new int[] {1, 2}));
            }
        }
        assertThat(tables[0].after(end + 200, 0)).isEqualTo(NextUse.NEVER);
    }

    private static int search(EpochSource orders, int sample, int from, int end, int[] ranks)
            throws InvalidSpecException {
        for (int epoch = from; epoch < end; epoch++) {
            EpochOrder order = orders.epoch(epoch);
            for (int rank : ranks) {
                for (int step = 0; step < order.length(rank); step++) {
                    if (order.sample(rank, step) == sample) {
                        return epoch;
                    }
                }
            }
        }
        return NextUse.NEVER;
    }

    @Test
    void endEpoch_isWhereTheOrdersEndForNow() throws InvalidSpecException {
        EpochSource all = PlanCases.torchDistributed(50, 2, 4);
        EpochSource written = epoch -> {
            if (epoch >= 5) {
                throw new OrderNotReadyException("no file of epoch " + epoch);
            }
            return all.epoch(epoch);
        };
        NextUse nextUse = NextUse.of(new Need(written, 0, Integer.MAX_VALUE, new int[] {0, 1}), 50, 1, 2);
        assertThat(nextUse.endEpoch()).isEqualTo(5);
        assertThatThrownBy(() -> NextUse.of(new Need(written, 0, 9, new int[] {0, 1}), 50, 1, 5))
                .isInstanceOf(OrderNotReadyException.class);
    }

    @Test
    void after_endOfTheJob_isNever() throws InvalidSpecException {
        Need need = new Need(
                PlanCases.written(new int[][] {{0, 1}}, new int[][] {{7}}), i -> i == 7 ? 1 : i, 0, 2, new int[] {0});
        NextUse nextUse = NextUse.of(need, 2, 0, 0);
        assertThat(nextUse.after(-1, 0)).isZero();
        assertThat(nextUse.after(0, 0)).isEqualTo(NextUse.NEVER);
        assertThat(nextUse.after(0, 1)).isEqualTo(1);
    }
}
