package io.clairfs.cache.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import io.clairfs.cache.testing.Await;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long threads rest that look by themselves. */
@Timeout(120)
final class ActivityTest {
    private static final long FOR_EVER_MS = 3_600_000;
    private static final int TIMES = 200;
    private static final Duration SOON = Duration.ofMinutes(1);

    private final Activity activity = new Activity();
    private final AtomicInteger woken = new AtomicInteger();

    @Test
    void whatHappened_beforeTheRest_preventsIt() {
        long seen = activity.seen();
        activity.happened();
        assertThat(activity.begin(seen, woken::incrementAndGet)).isFalse();
        activity.happened();
        assertThat(woken).hasValue(0);
    }

    @Test
    void whatHappens_duringTheRest_wakes_andAfterItsEndNoMore() {
        Runnable wake = woken::incrementAndGet;
        assertThat(activity.begin(activity.seen(), wake)).isTrue();
        activity.happened();
        assertThat(woken).hasValue(1);
        activity.end(wake);
        activity.happened();
        assertThat(woken).hasValue(1);
    }

    @Test
    void pause_ofAThreadThatHasLookedOnce_orSinceSomethingHappened_isShort() {
        Activity.Looks looks = activity.looks(1, FOR_EVER_MS);
        looks.begin();
        assertTimeout(SOON, looks::pause);
        activity.happened();
        looks.begin();
        assertTimeout(SOON, looks::pause);
    }

    @Test
    void pause_atRest_endsAsSoonAsSomethingHappens_alsoDuringTheLook() {
        Activity.Looks looks = activity.looks(1, FOR_EVER_MS);
        looks.begin();
        looks.begin();
        activity.happened();
        assertTimeout(SOON, looks::pause);
    }

    @Test
    void whateverHappens_isFollowedByALook() throws InterruptedException {
        AtomicInteger told = new AtomicInteger();
        AtomicInteger looked = new AtomicInteger();
        Thread looking = Thread.ofPlatform().daemon().start(() -> {
            Activity.Looks looks = activity.looks(1, FOR_EVER_MS);
            while (looked.get() < TIMES) {
                looks.begin();
                looked.set(told.get());
                looks.pause();
            }
        });
        for (int i = 1; i <= TIMES; i++) {
            told.set(i);
            activity.happened();
            int now = i;
            Await.until("a look", () -> looked.get() >= now);
        }
        activity.happened();
        assertThat(looking.join(SOON)).isTrue();
    }

    @Test
    void pause_isEndedByUnpark_alsoAtRest() throws InterruptedException {
        Activity.Looks looks = activity.looks(FOR_EVER_MS, FOR_EVER_MS);
        for (int i = 0; i < 3; i++) {
            Thread looking = Thread.ofPlatform().start(() -> {
                looks.begin();
                looks.pause();
            });
            LockSupport.unpark(looking);
            assertThat(looking.join(SOON)).isTrue();
        }
    }
}
