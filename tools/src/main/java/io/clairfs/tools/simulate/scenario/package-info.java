/** The input of a simulation: a cluster, a dataset and a job, as a scenario file describes them. */
@NullMarked
package io.clairfs.tools.simulate.scenario;

import org.jspecify.annotations.NullMarked;
