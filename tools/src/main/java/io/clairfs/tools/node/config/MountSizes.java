package io.clairfs.tools.node.config;

import io.clairfs.tools.node.limits.MemoryBudget;

/**
 * What a mount takes of the machine's memory. It is decided once, by the options and by what is free at that moment: later the trainers take their part, and a
 * process that goes on with the mount has the same sizes.
 *
 * @param memoryBytes the capacity of the memory tier
 * @param stagingBytes the budget of the page cache ahead of the trainers
 * @param areas the sizes of the areas that have no option
 */
public record MountSizes(long memoryBytes, long stagingBytes, MemoryBudget areas) {
    public MountSizes {
        if (memoryBytes < 0 || stagingBytes <= 0) {
            throw new IllegalArgumentException(
                    "memory of " + memoryBytes + " and staging of " + stagingBytes + " bytes");
        }
    }
}
