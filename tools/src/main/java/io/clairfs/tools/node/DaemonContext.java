package io.clairfs.tools.node;

import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.tools.OpenParts;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.job.LateSteps;
import io.clairfs.tools.node.restart.Takeover;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/**
 * What every part of a daemon may need.
 *
 * @param takeover the mount to go on with; null for a new one
 * @param parts those that have started, which the daemon closes
 */
record DaemonContext(
        MountConfig config,
        @Nullable Takeover takeover,
        OpenParts parts,
        Clock clock,
        Counters counters,
        ErrorLog errors) {
    private static final Logger LOG = System.getLogger(Daemon.class.getName());

    static DaemonContext of(MountConfig config, @Nullable Takeover takeover, OpenParts parts) {
        Clock clock = Clock.systemUTC();
        ErrorLog errors = new ErrorLog(clock, message -> LOG.log(Level.WARNING, message));
        return new DaemonContext(config, takeover, parts, clock, new Counters(), errors);
    }

    /** Has the daemon close this part, before those that have started earlier. */
    <T extends AutoCloseable> T started(T part) {
        return parts.add(part);
    }

    LateSteps lateSteps() {
        return new LateSteps(errors);
    }
}
