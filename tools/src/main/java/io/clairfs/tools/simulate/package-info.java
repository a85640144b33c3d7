/**
 * The simulator: what a training run would take on a described cluster, under each policy of the papers and under our own, by
 * the performance model and the planner that the daemon runs with. No I/O but scenario files and the report; nothing here
 * mounts, measures or prints.
 */
@NullMarked
package io.clairfs.tools.simulate;

import org.jspecify.annotations.NullMarked;
