/**
 * The feeder process: batches from the node's caches to pinned host memory and on to GPU memory.
 * It depends on {@code cache} alone. Nothing here knows FUSE or the network between nodes.
 */
@NullMarked
package io.clairfs.gpufeeder;

import org.jspecify.annotations.NullMarked;
