package io.clairfs.tools.cli;

import io.clairfs.tools.Progress;
import io.clairfs.tools.simulate.Simulator;
import org.jspecify.annotations.Nullable;

/** A progress bar for each simulation. */
final class SimulationBar implements Simulator.Listener, AutoCloseable {
    private @Nullable Progress progress;

    @Override
    public void begin(String what, long parts) {
        progress = Progress.begin(what, parts);
    }

    @Override
    public void at(long parts) {
        if (progress != null) {
            progress.at(parts);
        }
    }

    @Override
    public void end() {
        close();
    }

    @Override
    public void close() {
        if (progress != null) {
            progress.close();
            progress = null;
        }
    }
}
