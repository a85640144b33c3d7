package io.clairfs.tools.simulate.policy;

import java.io.Serial;

/** A policy cannot run a scenario; the message says why. */
public final class UnsupportedScenarioException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    UnsupportedScenarioException(String message) {
        super(message);
    }
}
