package io.clairfs.tools.demo;

/**
 * All samples of a dataset, or all samples read in an epoch, in any order.
 *
 * @param checksum the sum of the samples' CRC-32
 */
record Content(long samples, long bytes, long checksum) {}
