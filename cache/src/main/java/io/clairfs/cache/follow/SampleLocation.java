package io.clairfs.cache.follow;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a sample is on this node, where it should be, and when it is wanted.
 *
 * @param staged whether it can be read without a request
 * @param tiers the tiers that hold it, fastest first
 * @param planned the tier that the plan wants it in; null when it wants it in none, or there is no plan
 * @param nextUses for each job that reads it again within the epochs looked at
 */
public record SampleLocation(
        boolean staged, List<String> tiers, @Nullable String planned, List<NextUse> nextUses) {
    public SampleLocation {
        tiers = List.copyOf(tiers);
        nextUses = List.copyOf(nextUses);
    }

    /**
     * The next time that a rank which reads here reads the sample.
     *
     * @param step of the rank in that epoch, counted from 0
     * @param samplesBefore how many samples the rank reads before it, from where it is now
     */
    public record NextUse(String job, int rank, int epoch, int step, long samplesBefore) {}
}
