package io.clairfs.tools.warm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class WarmTextTest {
    private static final JsonNode STATUS = new JsonMapper().readTree("{\"samples\": 5000}");

    private final WarmPace pace = new WarmPace();

    private static Amounts there(long samples, long bytes) {
        return there(samples, bytes, 0, 0);
    }

    /** With pieces of a further sample from the source, or one that another place gives whole. */
    private static Amounts there(long samples, long bytes, long arriving, long arrivingWhole) {
        return new Amounts(true, 1000, 1L << 30, samples, bytes, samples, bytes, arriving, arrivingWhole);
    }

    private void saw(long second, Amounts amounts) {
        pace.saw(TimeUnit.SECONDS.toNanos(second), amounts);
    }

    @Test
    void line_hasTheShareAndTheTimeToGoAtThePaceOfTheLastHalfMinute() {
        saw(0, there(0, 0));
        saw(1, there(400, 1 << 28)); // a quick start, which says nothing of what follows
        saw(100, there(401, (1 << 28) + (1 << 20)));
        saw(110, there(500, 1 << 29));
        saw(120, there(600, 3 << 28));
        assertThat(WarmText.line(there(600, 3 << 28), pace))
                .isEqualTo("[##################------]  75 % of 1.0 GiB, 27 MB/s, about 41 s to go");
    }

    @Test
    void timeToGo_isTheLongerOfBytesAndSamples() {
        saw(0, there(0, 0));
        saw(10, there(10, 1 << 29));
        assertThat(pace.secondsToGo()).isEqualTo(990);
    }

    @Test
    void nothingComes_isSaid() {
        saw(0, there(10, 1000));
        assertThat(WarmText.line(there(10, 1000), pace)).endsWith("0 MB/s, waiting");
        saw(50, there(10, 1000));
        assertThat(WarmText.line(there(10, 1000), pace)).endsWith("0 MB/s, waiting");
        assertThat(pace.secondsWithoutNews()).isEqualTo(50);
        saw(51, there(11, 1100));
        assertThat(pace.secondsWithoutNews()).isZero();
    }

    @Test
    void largeSample_isWaitedFor_whilePiecesOfItCome_andTheyCount() {
        saw(0, there(0, 0));
        for (long second = 10; second <= 300; second += 10) {
            saw(second, there(0, 0, second << 20, 0));
            assertThat(pace.isStuck()).isFalse();
        }
        Amounts hangs = there(0, 0, 300L << 20, 0);
        assertThat(WarmText.line(hangs, pace)).contains(" 29 % of 1.0 GiB, 1 MB/s, about ");
        saw(360, hangs);
        assertThat(pace.isStuck()).as("a minute").isFalse();
        saw(361, hangs);
        assertThat(pace.isStuck()).isTrue();
    }

    @Test
    void timeToGo_ofSamplesThatTakeLongerThanTheLastHalfMinute_isThatOfTheirBytes() {
        saw(0, there(1, 1 << 29));
        saw(10, there(1, 1 << 29, 1 << 28, 0));
        assertThat(pace.secondsToGo()).isEqualTo(10);
    }

    @Test
    void fetchThatWasGivenUp_isNoNegativePace() {
        saw(0, there(0, 0, 1 << 20, 0));
        saw(10, there(0, 0));
        assertThat(WarmText.line(there(0, 0), pace)).endsWith("0 MB/s, waiting");
    }

    @Test
    void sampleThatAPeerGives_isWaitedForLonger_butNotForEver() {
        Amounts fromPeer = there(0, 0, 0, 1);
        saw(0, fromPeer);
        saw(600, fromPeer);
        assertThat(pace.isStuck()).isFalse();
        saw(601, fromPeer);
        assertThat(pace.isStuck()).isTrue();
    }

    @Test
    void sourceThatIsAskedAfterAPeer_hasAMinute() {
        saw(0, there(0, 0, 0, 1));
        saw(100, there(0, 0, 0, 1));
        saw(101, there(0, 0));
        saw(160, there(0, 0));
        assertThat(pace.isStuck()).isFalse();
        saw(161, there(0, 0));
        assertThat(pace.isStuck()).isTrue();
    }

    @Test
    void beforeThePlan_itIsPlanning() {
        Amounts now = new Amounts(false, 0, 0, 0, 0, 7, 1 << 20, 0, 0);
        saw(0, now);
        assertThat(WarmText.line(now, pace)).isEqualTo("planning; 7 samples are here, 1.0 MiB");
        assertThat(now.isComplete()).isFalse();
    }

    @Test
    void lines_fitIntoATerminal() {
        Amounts much = new Amounts(true, 14_000_000, 900L << 40, 1, 1L << 20, 1, 1L << 20, 0, 0);
        saw(0, new Amounts(true, 14_000_000, 900L << 40, 0, 0, 0, 0, 0, 0));
        saw(1, much);
        assertThat(WarmText.line(much, pace)).endsWith("days to go").hasSizeLessThan(80);
    }

    @Test
    void end_saysWhatIsNotThere() {
        assertThat(WarmText.complete(there(1000, 1L << 30), STATUS, 75))
                .isEqualTo(
                        "warm: 1,000 samples, 1.0 GiB, all that is planned here; 4,000 more of the dataset are not kept; took 1 min 15 s");
        assertThat(WarmText.checked(there(250, 1L << 28), STATUS))
                .isEqualTo("250 of 1,000 wanted samples are here (25 %), 256.0 MiB of 1.0 GiB; the dataset has 5,000");
    }

    @Test
    void amountsOfOneJob_areThoseOfThatJob() {
        JsonNode warm = new JsonMapper().readTree("""
                {"is_planned": true, "wanted": {"samples": 9, "bytes": 90}, "there": {"samples": 8, "bytes": 80},
                 "resident": {"samples": 10, "bytes": 100}, "arriving": {"samples": 3, "bytes": 30, "whole": 2},
                 "jobs": [{"name": "a", "is_planned": true, "wanted": {"samples": 5, "bytes": 50}, "there": {"samples": 5, "bytes": 50}}]}
                """);
        assertThat(Amounts.of(warm, null)).isEqualTo(new Amounts(true, 9, 90, 8, 80, 10, 100, 30, 2));
        assertThat(Amounts.of(warm, "a")).isEqualTo(new Amounts(true, 5, 50, 5, 50, 10, 100, 30, 2));
        assertThat(Amounts.of(warm, "a").isComplete()).isTrue();
        assertThat(Amounts.of(warm, "b").isComplete()).isFalse();
    }
}
