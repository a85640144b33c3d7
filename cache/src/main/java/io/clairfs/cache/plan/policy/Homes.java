package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.model.NodeStorage;

/**
 * The home of each sample.
 *
 * @param of by sample, {@link Placement#NONE} for one without a home
 * @param bytes that homes are charged ({@link NodeStorage#bytesOf}), by node
 */
public record Homes(short[] of, long[] bytes) {}
