/**
 * Is data the bottleneck of a training: what a mount measured of its jobs, what the simulator makes of this machine, and what would change it.
 */
@NullMarked
package io.clairfs.tools.report;

import org.jspecify.annotations.NullMarked;
