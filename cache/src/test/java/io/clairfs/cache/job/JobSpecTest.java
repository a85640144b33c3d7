package io.clairfs.cache.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Sampler;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lines of the job file, good and bad. */
final class JobSpecTest {
    @Test
    void bareInteger_isTheSeedWithAllDefaults() throws InvalidSpecException {
        JobSpec spec = JobSpec.parse("42\n");
        assertThat(spec.seed()).isEqualTo("42");
        assertThat(spec.name()).isEqualTo("train");
        assertThat(spec.sampler()).isEqualTo("torch-distributed");
        assertThat(spec.epochs()).isEqualTo(JobSpec.UNLIMITED);
        assertThat(spec.world()).isEqualTo(1);
    }

    // Promise J4
    @Test
    void lineThatIsTooLong_isRefused() throws InvalidSpecException {
        String ends = "seed=7epochs=2";
        String blanks = " ".repeat(65_536 - ends.length());
        assertThat(JobSpec.parse("seed=7" + blanks + "epochs=2").seed()).isEqualTo("7");
        assertThatThrownBy(() -> JobSpec.parse("seed=7 " + blanks + "epochs=2"))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining("more than 65536 characters");
    }

    @Test
    void world_isTold_thoughAFileThatTheLineNamesIsNotThere() throws InvalidSpecException {
        assertThat(JobSpec.worldOf("name=a sampler=torch-state state=/nowhere/state world=8"))
                .isEqualTo(8);
    }

    @Test
    void ranks_notSaid_areAllOfTheWorld() throws InvalidSpecException {
        JobSpec spec = JobSpec.parse("seed=1 world=4");
        assertThat(spec.firstRank()).isZero();
        assertThat(spec.lastRank()).isEqualTo(3);
    }

    @Test
    void allKeys_areRead() throws InvalidSpecException {
        JobSpec spec = JobSpec.parse("name=val seed=-7 epochs=9 batch=64 workers=4 prefetch_factor=3 world=8 ranks=2-5"
                + " drop_last=true start_epoch=2 start_step=10 subset=val/");
        assertThat(spec.name()).isEqualTo("val");
        assertThat(spec.window()).isEqualTo(64 * 4 * 3);
        assertThat(spec.firstRank()).isEqualTo(2);
        assertThat(spec.lastRank()).isEqualTo(5);
        assertThat(spec.startEpoch()).isEqualTo(2);
        assertThat(spec.startStep()).isEqualTo(10);
        assertThat(spec.subset()).isEqualTo("val");
    }

    @Test
    void whoWroteALine_isNotOfItsOrder() throws InvalidSpecException {
        JobSpec written = JobSpec.parse("seed=1 batch=4 by=loader");
        assertThat(written.line()).isEqualTo("batch=4 by=loader seed=1");
        assertThat(written.hasOrderOf(JobSpec.parse("seed=1 batch=4"))).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "sampler=torch-distributed, true",
        "sampler=torch-generator, true",
        "sampler=torchdata-stateful seeded=generator, false",
        "sampler=torch-generator break_after=2, false",
        "sampler=torch-distributed endless=true, false"
    })
    void howFarALoaderReadsAhead_isOfItsOrder_whereThatDependsOnIt(String sampler, boolean isSame) throws Exception {
        JobSpec one = JobSpec.parse(sampler + " epochs=9 batch=4 seed=1 workers=1 prefetch_factor=2");
        JobSpec other = JobSpec.parse(sampler + " epochs=9 batch=4 seed=1");
        assertThat(one.hasOrderOf(other)).isEqualTo(isSame);
        assertThat(order(one).equals(order(other))).isEqualTo(isSame);
    }

    /** The first three epochs of rank 0. */
    private static List<Integer> order(JobSpec spec) throws InvalidSpecException {
        Sampler sampler = spec.sampler(14);
        List<Integer> all = new ArrayList<>();
        for (int epoch = 0; epoch < 3; epoch++) {
            EpochOrder order = sampler.epoch(epoch);
            IntStream.range(0, order.length(0)).forEach(step -> all.add(order.sample(0, step)));
        }
        return all;
    }

    @Test
    void seedThatIsNotWritten_isTheSamplersOwn() throws InvalidSpecException {
        JobSpec spec = JobSpec.parse("sampler=dlio version=v3 batch=4");
        assertThat(spec.seed()).isEqualTo("123");
        assertThat(spec.hasOrderOf(JobSpec.parse("sampler=dlio version=v3 batch=4 seed=123")))
                .isTrue();
        assertThat(JobSpec.parse("sampler=locality-aware base=dlio version=v1 batch=4")
                        .seed())
                .isEqualTo("123");
        assertThat(JobSpec.parse("sampler=grain").seed()).isEqualTo("0");
    }

    @Test
    void line_canBeWrittenAgain() throws InvalidSpecException {
        JobSpec spec = JobSpec.parse("seed=5 epochs=3 batch=16 world=2 ranks=1");
        assertThat(JobSpec.parse(spec.line())).isEqualTo(spec);
    }

    @ParameterizedTest
    @CsvSource({
        "world=16 ranks=4-7 per_node=4, true",
        "world=16 ranks=4-6 per_node=4, false",
        "world=16 ranks=2-5 per_node=4, false",
        "world=16 ranks=4-7, false",
        "world=16 ranks=5, true",
        "world=16 ranks=0-15 per_node=4, true",
        "world=16 ranks=none per_node=4, true"
    })
    void ranksOfALocalityAwareOrder_areThoseOfOneNode(String ranks, boolean ofOneNode) throws InvalidSpecException {
        assertThat(JobSpec.parse("sampler=locality-aware batch=2 " + ranks).hasRanksOfOneNode())
                .isEqualTo(ofOneNode);
        assertThat(JobSpec.parse("world=16 ranks=0-2").hasRanksOfOneNode()).isTrue();
    }

    @Test
    void localityAware_isALineLikeAnyOther() throws InvalidSpecException {
        JobSpec spec = JobSpec.parse(
                "sampler=locality-aware seed=5 epochs=90 batch=32 world=16 ranks=4-7 per_node=4 cached=0.8 workers=2");
        assertThat(JobSpec.parse(spec.line())).isEqualTo(spec);
        assertThat(spec.window()).isEqualTo(32 * 2 * 2);
        assertThat(spec.sampler(1000).epoch(1).length(15)).isEqualTo(63);
        assertThat(spec.hasOrderOf(JobSpec.parse(spec.line().replace("cached=0.8", "cached=0.7"))))
                .isFalse();
        assertThat(spec.readsOrderFiles()).isFalse();
        assertThat(JobSpec.parse("sampler=locality-aware batch=1 base=order-file file=/nowhere/{epoch}.{rank}")
                        .readsOrderFiles())
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sampler=locality-aware|locality-aware needs batch",
                "sampler=locality-aware batch=32 world=6 per_node=4|does not divide world=6",
                "seed=1 sede=2|unknown key 'sede'",
                "sampler=hf-datasets seed=1 buffer_size=1000|use epochs=1",
                "sampler=numpy-legacy seed=[1,2] reseed_each_epoch=true|seed",
                "seed=abc|seed='abc' is not an integer",
                "seed=18446744073709551616|out of range",
                "seed=-9223372036854775809|out of range",
                "seed=18446744073709551615 epochs=2|seed + epoch=18446744073709551616 is out of range",
                "seed=1 seed=2|given twice",
                "hello|is not key=value",
                "=3|is not key=value",
                "world=2 ranks=0-3|needs a world of at least 4",
                "world=4 ranks=3-1|runs backwards",
                "world=4 ranks=x|neither a rank",
                "world=0|out of range",
                "epochs=0|out of range",
                "batch=0|out of range",
                "drop_last=maybe|neither true nor false",
                "sampler=random|unknown sampler 'random'",
                "epochs=3 start_epoch=3|behind the last",
                "start_step=5|give batch=",
                "name=a/b|must be 1 to 64 letters",
                "by=me|must be by=loader",
                "subset=../secret|plain path",
                "subset=a//b|plain path",
                "subset=/train|subset='/train' begins with a slash",
                "subset=/|begins with a slash",
                "batch=256 start_step=12811670|skips 3279787520 samples, more than any epoch has: start_step counts",
                "batch=16777216 start_step=2147483647|start_step counts batches, not samples",
                "seed=99999999999999999999999999999999999999999999999999999999999999999999999999999999999|out of range",
            })
    void badLine_isRefusedWithTheReason(String line, String reason) {
        assertThatThrownBy(() -> JobSpec.parse(line))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void largestStartStep_isTaken() throws InvalidSpecException {
        assertThat(JobSpec.parse("batch=1 start_step=2147483647").startStep()).isEqualTo(Integer.MAX_VALUE);
        assertThat(JobSpec.parse("batch=256 start_step=8388607").startStep()).isEqualTo(8_388_607);
    }

    @Test
    void endlessLine_isRefused() {
        assertThatThrownBy(() -> JobSpec.parse("seed=" + "1".repeat(1 << 17)))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining("characters");
    }
}
