/**
 * This node in its group: membership, jobs and plans that all nodes share, and serving samples to other nodes.
 */
@NullMarked
package io.clairfs.tools.node.cluster;

import org.jspecify.annotations.NullMarked;
