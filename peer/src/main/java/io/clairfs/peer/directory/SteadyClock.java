package io.clairfs.peer.directory;

import com.hazelcast.internal.util.Clock;
import java.util.concurrent.TimeUnit;

/**
 * The time that Hazelcast judges members by: the wall clock's when this process began, and from then on a clock that only runs forward. A
 * wall clock that is set a minute forward would else make a node take all others for dead.
 *
 * <p>Hazelcast 5.7.0 takes such a class by the name in the system property {@value #PROPERTY}; the class that it extends is not
 * part of its public interface, so another version has to be looked at.
 */
public final class SteadyClock extends Clock.ClockImpl {
    private static final String PROPERTY = "com.hazelcast.clock.impl";
    private static final long STARTED_MS = System.currentTimeMillis();
    private static final long STARTED_NS = System.nanoTime();

    /** For Hazelcast. */
    public SteadyClock() {}

    /** Has Hazelcast use it; to be called before the first instance is made. */
    static void install() {
        System.setProperty(PROPERTY, SteadyClock.class.getName());
    }

    @Override
    protected long currentTimeMillis() {
        return STARTED_MS + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - STARTED_NS);
    }
}
