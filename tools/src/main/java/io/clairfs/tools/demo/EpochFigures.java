package io.clairfs.tools.demo;

/**
 * One epoch, measured by the trainer and the source.
 *
 * @param epoch counts from 1
 * @param seconds from asking for the first batch to the end of the last one's computation
 * @param waitSeconds the part of it in which the trainer waited for data
 * @param waitFraction {@code waitSeconds} as a fraction of the epoch
 * @param sourceReads read requests that the source answered during the epoch
 * @param sourceBytes bytes in those answers
 */
public record EpochFigures(
        int epoch, double seconds, double waitSeconds, double waitFraction, long sourceReads, long sourceBytes) {}
