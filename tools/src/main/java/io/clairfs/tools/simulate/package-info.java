/**
 * The simulator: the time of a training run on a described cluster, under each policy of the papers and under our own. It uses the
 * performance model and the planner of the daemon. Its only I/O is scenario files and the report. It neither mounts, measures nor prints.
 */
@NullMarked
package io.clairfs.tools.simulate;

import org.jspecify.annotations.NullMarked;
