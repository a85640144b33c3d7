/**
 * A ring of batches in GPU memory: which devices there are, the memory of the ring, and the copies into it.
 *
 * <p>All calls to CUDA are here. A machine without a GPU, without a driver or with one that is too old is a normal outcome and has a reason;
 * nothing of it is loaded before a device is asked for. The trainer opens the memory by its handle (CUDA's inter-process communication), so
 * the ring frees it only when it is closed.
 */
@NullMarked
package io.clairfs.gpufeeder.device;

import org.jspecify.annotations.NullMarked;
