package io.clairfs.peer.directory;

import com.hazelcast.internal.util.Clock;
import java.util.concurrent.TimeUnit;

/**
 * The clock by which Hazelcast judges members: it begins with the wall clock's time when this class is loaded, and only runs forward. Otherwise a
 * wall clock that is set a minute forward would make a node take all others for dead.
 *
 * <p>Hazelcast 5.7.0 loads the class that the system property {@value #PROPERTY} names. The class that it extends is not part of
 * Hazelcast's public interface, so this must be checked with every other version.
 */
public final class SteadyClock extends Clock.ClockImpl {
    private static final String PROPERTY = "com.hazelcast.clock.impl";
    private static final long STARTED_MS = System.currentTimeMillis();
    private static final long STARTED_NS = System.nanoTime();

    /** For Hazelcast. */
    public SteadyClock() {}

    /** Makes Hazelcast use it. Called before the first instance is made. */
    static void install() {
        System.setProperty(PROPERTY, SteadyClock.class.getName());
    }

    @Override
    protected long currentTimeMillis() {
        return STARTED_MS + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - STARTED_NS);
    }
}
