package io.clairfs.tools.doctor;

import java.io.IOException;
import java.util.List;

/** Looks at one side of a machine. It changes nothing, and ends soon. */
@FunctionalInterface
interface Check {
    /** What there is to say; empty where it does not concern this mount. */
    List<Finding> look(Examined examined) throws IOException;
}
