/**
 * The simulator: how long a training run would take on a described cluster, under each policy of the papers and under our own. It uses the
 * performance model and the planner of the daemon. No I/O but scenario files and the report; nothing here mounts, measures or prints.
 */
@NullMarked
package io.clairfs.tools.simulate;

import org.jspecify.annotations.NullMarked;
