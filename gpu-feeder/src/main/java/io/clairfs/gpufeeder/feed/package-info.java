/**
 * The feeder: follows the order of one rank of a job, reads its samples through the mount, assembles them in the slots of a ring, and sends the batches in
 * order. It is an ordinary reader of the mount and of its control files, so a crash here touches nothing else.
 */
@NullMarked
package io.clairfs.gpufeeder.feed;

import org.jspecify.annotations.NullMarked;
