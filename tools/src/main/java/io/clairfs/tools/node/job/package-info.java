/**
 * The jobs of this node, over the indexes of the dataset. Known jobs that wait for something start from here.
 */
@NullMarked
package io.clairfs.tools.node.job;

import org.jspecify.annotations.NullMarked;
