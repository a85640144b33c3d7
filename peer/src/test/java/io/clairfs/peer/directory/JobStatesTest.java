package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which change of a job holds, without a network. */
final class JobStatesTest {
    private final JobStates states = new JobStates(3);

    @Test
    void change_isReadAsItWasWritten_andOneWithoutAStampToo() {
        JobState running = new JobState("name=train seed=7", 1_790_000_000_000L);
        JobState ended = new JobState("", 1_790_000_000_001L);
        assertThat(JobState.read(running.text())).isEqualTo(running);
        assertThat(JobState.read(ended.text())).isEqualTo(ended);
        assertThat(ended.hasEnded()).isTrue();
        assertThat(JobState.read("name=train seed=7")).isEqualTo(new JobState("name=train seed=7", 0));
        assertThat(JobState.read("")).isEqualTo(new JobState("", 0));
        assertThat(new JobState("name=train seed=7", 0).text()).isEqualTo("name=train seed=7");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 999_999_999_999_999_999L, 1_000_000_000_000_000_000L, Long.MAX_VALUE - 1, Long.MAX_VALUE})
    void everyStamp_isReadAsItWasWritten(long stamp) {
        JobState running = new JobState("seed=1", stamp);
        JobState ended = new JobState("", stamp);
        assertThat(JobState.read(running.text())).isEqualTo(running);
        assertThat(JobState.read(ended.text())).isEqualTo(ended);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "seed=1\n@",
                "seed=1\n@x",
                "seed=1\n@-1",
                "seed=1\n@9223372036854775808",
                "seed=1\n@12345678901234567890"
            })
    void stampThatIsNone_isPartOfTheLine(String text) {
        assertThat(JobState.read(text)).isEqualTo(new JobState(text, 0));
    }

    @Test
    void laterChange_holds_inWhicheverOrderTheyAreSeen() {
        JobState running = new JobState("seed=1", 10);
        JobState ended = new JobState("", 20);
        assertThat(states.seen("a", running)).isEqualTo(running);
        assertThat(states.seen("a", ended)).isEqualTo(ended);
        assertThat(states.seen("a", running)).isEqualTo(ended);
        assertThat(states.ended()).containsExactly("a");
        JobState again = new JobState("seed=1", 21);
        assertThat(states.seen("a", again)).isEqualTo(again);
        assertThat(states.seen("a", ended)).isEqualTo(again);
        assertThat(states.ended()).isEmpty();
    }

    @Test
    void next_isLaterThanTheLastChange_alsoByAClockThatIsBehind() {
        assertThat(states.next("a", "seed=1", 1_000)).isEqualTo(new JobState("seed=1", 1_000));
        assertThat(states.seen("a", new JobState("seed=1", 5_000)).stamp()).isEqualTo(5_000);
        assertThat(states.next("a", "", 1_000)).isEqualTo(new JobState("", 5_001));
        assertThat(states.next("a", "", 9_000)).isEqualTo(new JobState("", 9_000));
    }

    @Test
    void jobWithTheLastStampThereIs_canBeEndedAndStartedAgain() {
        JobState wrong = new JobState("seed=1", Long.MAX_VALUE - 1);
        assertThat(states.seen("a", wrong)).isEqualTo(wrong);
        for (String lines : List.of("", "seed=2", "")) {
            JobState next = states.next("a", lines, 1_000);
            assertThat(next.stamp()).isEqualTo(Long.MAX_VALUE);
            assertThat(states.seen("a", JobState.read(next.text()))).isEqualTo(new JobState(lines, Long.MAX_VALUE));
        }
        assertThat(states.ended()).containsExactly("a");
        assertThat(states.seen("a", wrong).hasEnded()).isTrue();
    }

    @Test
    void moreThanAreRemembered_theOneThatEndedFirstIsForgotten_butNoneThatRuns() {
        var _ = states.seen("runs", new JobState("seed=1", 1));
        var _ = states.seen("second", new JobState("", 3));
        var _ = states.seen("first", new JobState("", 2));
        var _ = states.seen("third", new JobState("", 4));
        assertThat(states.ended()).containsExactlyInAnyOrder("second", "third");
        assertThat(states.of("runs")).isNotNull();
        assertThat(states.of("first")).isNull();
    }
}
