/**
 * What is simulated: a cluster, a dataset, a job, as a file says it.
 */
@NullMarked
package io.clairfs.tools.simulate.scenario;

import org.jspecify.annotations.NullMarked;
