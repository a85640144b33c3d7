package io.clairfs.tools.simulate.scenario;

import java.io.IOException;
import java.io.Serial;

/** A scenario that cannot be simulated; the message is the line that the user sees. */
public final class InvalidScenarioException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    public InvalidScenarioException(String message) {
        super(message);
    }
}
