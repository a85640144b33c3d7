package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.hazelcast.internal.util.Clock;
import java.lang.reflect.Field;
import org.junit.jupiter.api.Test;

final class SteadyClockTest {
    @Test
    void hazelcast_takesIt() throws ReflectiveOperationException {
        SteadyClock.install();
        Field clock = Clock.class.getDeclaredField("CLOCK");
        clock.setAccessible(true);
        assertThat(clock.get(null)).isInstanceOf(SteadyClock.class);
        assertThat(Clock.currentTimeMillis()).isCloseTo(System.currentTimeMillis(), within(60_000L));
    }
}
