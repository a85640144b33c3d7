package io.clairfs.cache.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A rank's positions over epochs of which some have no sample. */
final class AccessStreamTest {
    private static final int MANY = Integer.MAX_VALUE;

    private final Set<Integer> computed = new TreeSet<>();

    /** Epochs of these lengths; those behind them are empty, or are still to be written. */
    private AccessStream stream(int epochs, boolean goesOnEmpty, int... lengths) {
        Sampler sampler = epoch -> {
            computed.add(epoch);
            if (epoch >= lengths.length && !goesOnEmpty) {
                throw new OrderNotReadyException("no file of epoch " + epoch);
            }
            return EpochOrder.of(new int[epoch < lengths.length ? lengths[epoch] : 0]);
        };
        return new AccessStream(new EpochOrders(sampler, 1 << 20, () -> 0), 0, epochs);
    }

    @Test
    void emptyEpochs_arePassedOver() throws Exception {
        AccessStream stream = stream(MANY, false, 3, 0, 0, 0, 2, 0, 1);
        assertThat(stream.atOrAfter(AccessStream.position(0, 2))).isEqualTo(AccessStream.position(0, 2));
        assertThat(stream.atOrAfter(AccessStream.position(0, 3))).isEqualTo(AccessStream.position(4, 0));
        assertThat(stream.atOrAfter(AccessStream.position(2, 0))).isEqualTo(AccessStream.position(4, 0));
        assertThat(stream.atOrAfter(AccessStream.position(4, 2))).isEqualTo(AccessStream.position(6, 0));
        assertThatThrownBy(() -> stream.atOrAfter(AccessStream.position(6, 1)))
                .isInstanceOf(OrderNotReadyException.class)
                .hasMessageContaining("no file of epoch 7");
    }

    @Test
    void emptyEpochsBeforeOneThatIsStillToBeWritten_areNotTheEnd() {
        AccessStream stream = stream(MANY, false, 3, 0, 0, 0);
        assertThatThrownBy(() -> stream.atOrAfter(AccessStream.position(0, 3)))
                .isInstanceOf(OrderNotReadyException.class)
                .hasMessageContaining("no file of epoch 4");
    }

    @Test
    void emptyEpochsUpToTheLast_areTheEnd() throws Exception {
        assertThat(stream(4, false, 3, 0, 0, 0).atOrAfter(AccessStream.position(0, 3)))
                .isEqualTo(AccessStream.END);
    }

    @Test
    void nothingButEmptyEpochs_isTheEnd_howeverManyThereAre() throws Exception {
        AccessStream stream = stream(MANY, true, 3);
        assertThat(stream.atOrAfter(AccessStream.position(0, 3))).isEqualTo(AccessStream.END);
        assertThat(computed).hasSize(1 + AccessStream.MOST_EMPTY);
        assertThat(stream.atOrAfter(AccessStream.END)).isEqualTo(AccessStream.END);
    }
}
