package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.source.SourceChangedException;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import org.junit.jupiter.api.Test;

/** What is tried again, and when. */
final class ListingFailuresTest {
    private final ListingFailures failures = new ListingFailures();
    private final Directory directory = new Directory(null, "c".getBytes(UTF_8));

    private static SourceException failure(int errno) {
        return new SourceFailedException("c", errno);
    }

    @Test
    void failureThatMayPass_isTriedAgainForGood_lessAndLessOften() {
        long last = 0;
        for (int tries = 1; tries <= 1000; tries++) {
            long pauseMs = failures.failed(directory, failure(Errno.EIO));
            assertThat(pauseMs).isBetween(Math.max(250, last), 30_000L);
            last = pauseMs;
        }
        assertThat(last).isEqualTo(30_000);
        assertThat(failures.describe()).isEqualTo("cannot list directory c: Input/output error; it is tried again");
        assertThat(failures.mended(directory)).isTrue();
        assertThat(failures.describe()).isNull();
        assertThat(failures.failed(directory, failure(Errno.EIO))).isEqualTo(250);
    }

    @Test
    void refusal_isNotTriedAgain() {
        assertThat(failures.failed(directory, failure(Errno.EACCES))).isEqualTo(-1);
        assertThat(failures.describe()).isEqualTo("cannot list directory c: Permission denied");
    }

    @Test
    void whatIsGone_isLookedForAFewTimes() {
        for (int tries = 1; tries < 5; tries++) {
            assertThat(failures.failed(directory, failure(Errno.ENOENT))).isPositive();
        }
        assertThat(failures.isGivenUp(directory)).isFalse();
        assertThat(failures.failed(directory, failure(Errno.ENOENT))).isEqualTo(-1);
        assertThat(failures.isGivenUp(directory)).isTrue();
    }

    @Test
    void whatIsGoneAfterOtherFailures_isLookedForAFewTimesAllTheSame() {
        for (int tries = 1; tries <= 20; tries++) {
            assertThat(failures.failed(directory, failure(Errno.EIO))).isPositive();
        }
        for (int tries = 1; tries < 5; tries++) {
            assertThat(failures.failed(directory, failure(Errno.ENOENT))).isPositive();
        }
        assertThat(failures.failed(directory, new SourceChangedException("c"))).isEqualTo(-1);
    }

    @Test
    void whatWasGivenUp_isToldWithTheRemedy() {
        assertThat(ListingFailures.givenUpLine(directory, failure(Errno.ENOENT)))
                .isEqualTo(
                        "cannot list directory c: No such file or directory; it is not tried again: unmount, and mount"
                                + " again");
        assertThat(ListingFailures.givenUp(directory, failure(Errno.ENOENT)))
                .isInstanceOfSatisfying(
                        SourceFailedException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT))
                .hasMessage("c (not tried again: unmount, and mount again): No such file or directory");
    }

    @Test
    void several_oneIsNamedAndTheOthersAreCounted() {
        failures.failed(directory, failure(Errno.EIO));
        failures.failed(new Directory(null, "d".getBytes(UTF_8)), failure(Errno.EIO));
        assertThat(failures.describe()).contains("cannot list directory ").contains(", and 1 others; it is tried");
    }
}
