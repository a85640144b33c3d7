/**
 * The tier on a disk: a log of segments with checksums, an index in memory, compaction and recovery. It survives the daemon. Each sample is
 * verified here when it is read, or by the peer that it is sent to. Locks, outermost first: {@code SsdTier.use}, {@code makingRoom},
 * that of a move ({@code MovesByMemory}), {@code SegmentLog}, {@code Segment}.
 */
@NullMarked
package io.clairfs.cache.tier.ssd;

import org.jspecify.annotations.NullMarked;
