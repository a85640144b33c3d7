/**
 * The samplers of PyTorch and of libraries built on it: {@code DistributedSampler}, {@code RandomSampler} with a generator, torchdata's
 * stateful loader, Accelerate. The generator's draws are those of the loader's whole run.
 */
@NullMarked
package io.clairfs.cache.order.torch;

import org.jspecify.annotations.NullMarked;
