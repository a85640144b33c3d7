package io.clairfs.tools.node.job;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.status.ErrorLog;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Runs the steps that follow the listing of the dataset. A step that fails is reported, and the others run all the same. */
public record LateSteps(ErrorLog errors) {
    private static final Logger LOG = System.getLogger(LateSteps.class.getName());

    @FunctionalInterface
    public interface Step {
        void run() throws Exception;
    }

    /** Runs one step. Its failure is a line in the errors. */
    public void run(String what, Step step) {
        try {
            step.run();
        } catch (DatasetException e) {
            errors.add("index: " + e.getMessage());
        } catch (Throwable e) {
            errors.add(what + " failed: " + e);
            LOG.log(Level.ERROR, what, e);
        }
    }
}
