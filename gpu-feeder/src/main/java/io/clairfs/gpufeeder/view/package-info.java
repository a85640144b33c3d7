/**
 * What a mount with {@code --view} shows of images: their pixels, as a PPM or a {@code .npy} file. Deterministic operations only; random ones stay
 * with the trainer or the feeder. The decoders are {@code gpufeeder.decode}'s.
 */
@NullMarked
package io.clairfs.gpufeeder.view;

import org.jspecify.annotations.NullMarked;
