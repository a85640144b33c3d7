/**
 * Files whose bytes behind a header are the sample: {@code .npy} and wav. The first file says type and shape; the others must agree.
 *
 * <p>Headers are parsed here, and nothing is copied: the payload is read straight into its place.
 */
@NullMarked
package io.clairfs.gpufeeder.decode.array;

import org.jspecify.annotations.NullMarked;
