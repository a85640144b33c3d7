/**
 * What is simulated: a cluster, a dataset and a job, as in a file.
 */
@NullMarked
package io.clairfs.tools.simulate.scenario;

import org.jspecify.annotations.NullMarked;
