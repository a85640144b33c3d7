/**
 * What becomes of a sample's bytes in a batch: element type and shape, and how a file's content is brought into that form.
 *
 * <p>A decoder knows bytes and nothing else: no mount, no ring, no order. Each thread has a decoder of its own.
 */
@NullMarked
package io.clairfs.gpufeeder.decode;

import org.jspecify.annotations.NullMarked;
