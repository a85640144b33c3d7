/**
 * The shared memory in which batches reach a trainer, and the socket over which feeder and trainer hand its slots to each other.
 *
 * <p>Nothing here has a name in a filesystem: the kernel frees it all with the last process, however that ends. Native types stay inside.
 * docs/decisions/feeder-ring.md says why.
 */
@NullMarked
package io.clairfs.gpufeeder.ring;

import org.jspecify.annotations.NullMarked;
