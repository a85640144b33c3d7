package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.FileLooks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which orders a search for the next read of a sample asks for. Every rank reads the sample of the epoch's number, and no other. */
final class NextUseSearchTest {
    private final List<Integer> asked = new ArrayList<>();

    private EpochOrder order(int epoch) {
        asked.add(epoch);
        return EpochOrder.of(new int[] {epoch});
    }

    private static JobSpec spec() throws InvalidSpecException {
        return JobSpec.parse("name=train seed=1 epochs=40 world=2 ranks=0-1");
    }

    @Test
    void orderOfAnEpoch_isAskedForOnce_byAllRanksInIt() throws Exception {
        assertThat(NextUseSearch.of(2, spec(), this::order, new long[2]))
                .isEqualTo(new SampleLocation.NextUse("train", 0, 2, 0, 2));
        assertThat(asked).containsExactly(0, 1, 2);
    }

    @Test
    void ranksInSeveralEpochs_eachGoByTheirOwn() throws Exception {
        long[] from = {AccessStream.position(3, 0), AccessStream.position(1, 0)};
        assertThat(NextUseSearch.of(5, spec(), this::order, from))
                .isEqualTo(new SampleLocation.NextUse("train", 0, 5, 0, 2));
        assertThat(asked).containsExactly(3, 1, 4, 2, 5);
    }

    @Test
    void orderThatIsStillToBeWritten_endsTheSearch_andAFileThatDoesNotAnswerIsTold() throws Exception {
        assertThat(NextUseSearch.of(
                        2,
                        spec(),
                        _ -> {
                            throw new OrderNotReadyException("still to be written");
                        },
                        new long[2]))
                .isNull();
        FileLooks silent = new FileLooks(_ -> {}, _ -> 0);
        assertThatThrownBy(() -> NextUseSearch.of(
                        2, spec(), epoch -> silent.ofOrder("/orders", 1, () -> order(epoch)), new long[2]))
                .isInstanceOfSatisfying(
                        OrderNotReadyException.class,
                        e -> assertThat(e.isUnanswered()).isTrue());
    }
}
