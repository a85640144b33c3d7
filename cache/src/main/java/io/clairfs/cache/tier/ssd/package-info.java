/**
 * The tier on a disk: a log of segments with checksums, an index in memory, compaction and recovery. It survives the daemon, and serves nothing that it
 * did not verify. Locks, outermost first: {@code SsdTier.use}, {@code makingRoom}, {@code SegmentLog}, {@code Segment}.
 */
@NullMarked
package io.clairfs.cache.tier.ssd;

import org.jspecify.annotations.NullMarked;
