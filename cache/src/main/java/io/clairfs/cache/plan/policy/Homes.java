package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.model.NodeStorage;

/**
 * Where the copy of each sample lies that all nodes count on.
 *
 * @param of by sample, {@link Placement#NONE} for one that no node is to hold
 * @param bytes that they are charged ({@link NodeStorage#bytesOf}), by node
 */
public record Homes(short[] of, long[] bytes) {}
