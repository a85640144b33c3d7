package io.clairfs.cache.follow;

import java.util.List;

/**
 * What the epochs of a job took.
 *
 * @param epochs the last ones, in order; the last of them may be under way
 * @param readerWaitSeconds in which at least one of its readers here waited for an answer of the daemon; never shrinks
 * @param sampleSeconds what a sample takes its trainers here, all together, while no reader waits; 0 while that is not known
 */
public record JobTimes(List<EpochTime> epochs, double readerWaitSeconds, double sampleSeconds) {}
