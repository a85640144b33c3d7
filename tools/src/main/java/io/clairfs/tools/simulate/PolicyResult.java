package io.clairfs.tools.simulate;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.clairfs.tools.simulate.policy.SimulatedTraffic;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of one policy in a scenario.
 *
 * @param seconds of the whole run; 0 if it is unsupported
 * @param epochs seconds of each
 * @param prepareSeconds seconds before the first epoch; part of {@code seconds}, not of {@code epochs}
 * @param fetched samples and bytes fetched into the staging buffer, by place; the source includes reads that filled storage classes
 * @param fetchSeconds mean seconds that a node's staging threads spent at each place, divided by their number
 * @param stallSeconds in which computation waited for data
 * @param imbalancedIterations the number of iterations that waited for the data of some nodes only
 * @param orderChanged whether samples are read in another order than the sampler's
 * @param fullDataset whether every epoch can read every sample
 * @param unsupported why the policy cannot run the scenario, or null
 */
public record PolicyResult(
        String name,
        double seconds,
        List<Double> epochs,
        double prepareSeconds,
        Fetched fetched,
        FetchSeconds fetchSeconds,
        double stallSeconds,
        long imbalancedIterations,
        boolean orderChanged,
        boolean fullDataset,
        @Nullable String unsupported) {

    /** Samples and bytes. */
    public record Amount(long count, long bytes) {}

    /** Amounts fetched, by place. */
    public record Fetched(Amount memory, Amount ssd, Amount peer, Amount source) {}

    /** Seconds of fetching, by place. */
    public record FetchSeconds(double memory, double ssd, double peer, double source) {}

    static PolicyResult unsupported(String name, String why) {
        Amount none = new Amount(0, 0);
        return new PolicyResult(
                name,
                0,
                List.of(),
                0,
                new Fetched(none, none, none, none),
                new FetchSeconds(0, 0, 0, 0),
                0,
                0,
                false,
                false,
                why);
    }

    static Fetched fetched(SimulatedTraffic traffic) {
        return new Fetched(
                amount(traffic, SimulatedTraffic.MEMORY),
                amount(traffic, SimulatedTraffic.SSD),
                amount(traffic, SimulatedTraffic.PEER),
                amount(traffic, SimulatedTraffic.SOURCE));
    }

    private static Amount amount(SimulatedTraffic traffic, int kind) {
        return new Amount(traffic.count(kind), traffic.bytes(kind));
    }

    /** Whether it ran on all data, in the sampler's order. Only such results can be compared with each other. */
    @JsonIgnore
    public boolean isComparable() {
        return unsupported == null && !orderChanged && fullDataset;
    }
}
