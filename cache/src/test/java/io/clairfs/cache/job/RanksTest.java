package io.clairfs.cache.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.InvalidSpecException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RanksTest {
    @ParameterizedTest
    @CsvSource({"0,0,0,1", "3,3,3,1", "2-5,2,5,4", "none,0,-1,0"})
    void text_isReadAndWrittenAgain(String text, int first, int last, int count) throws InvalidSpecException {
        Ranks ranks = Ranks.parse(text);
        assertThat(ranks).isEqualTo(new Ranks(first, last));
        assertThat(ranks.count()).isEqualTo(count);
        assertThat(ranks.text()).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "None", "0,1", "1-", "12345678"})
    void otherText_isRefused(String text) {
        assertThatThrownBy(() -> Ranks.parse(text))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining("neither a rank");
    }

    @Test
    void spec_withRanks_isTheSameForAll() throws InvalidSpecException {
        JobSpec spec = JobSpec.parse("seed=3 world=4 ranks=1");
        JobSpec other = spec.withRanks(new Ranks(2, 3));
        assertThat(other.ranks()).isEqualTo(new Ranks(2, 3));
        assertThat(other.lineForAll()).isEqualTo(spec.lineForAll()).isEqualTo("name=train seed=3 world=4");
        assertThat(spec.withRanks(Ranks.NONE).line()).isEqualTo("ranks=none seed=3 world=4");
        assertThatThrownBy(() -> spec.withRanks(new Ranks(4, 4))).hasMessageContaining("needs a world of at least 5");
    }

    @Test
    void lineWithoutRanks_speaksOfThoseNamedBefore() throws InvalidSpecException {
        assertThat(JobSpec.parse("seed=3 world=128", Ranks.NONE).ranks()).isEqualTo(Ranks.NONE);
        assertThat(JobSpec.parse("seed=3 world=128", new Ranks(5, 6)).ranks()).isEqualTo(new Ranks(5, 6));
        assertThat(JobSpec.parse("seed=3 world=128 ranks=7", new Ranks(5, 6)).ranks())
                .isEqualTo(new Ranks(7, 7));
    }
}
