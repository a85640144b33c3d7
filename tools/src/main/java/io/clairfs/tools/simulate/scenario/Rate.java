package io.clairfs.tools.simulate.scenario;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import io.clairfs.cache.plan.model.Throughput;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/**
 * MB/s of a device by the number of threads that use it at once: one number, or a map from the number of threads to the total of all of them.
 *
 * <p>One number is the total of all threads, and fewer threads get the same total. This fits the published simulations, but not a device of
 * which one thread can use only a half.
 *
 * @param byThreads ascending; never empty
 */
public record Rate(Map<Integer, Double> byThreads) {
    private static final double MEGA = 1e6;

    /** More than any device, MB/s. */
    static final double MOST = 1e15;

    public Rate {
        byThreads = new TreeMap<>(byThreads);
        if (byThreads.isEmpty()) {
            throw new IllegalArgumentException("a rate without any number");
        }
        byThreads.forEach((threads, rate) -> {
            if (threads < 1 || !(rate > 0) || !(rate < MOST)) {
                throw new IllegalArgumentException("a rate of " + rate + " MB/s at " + threads + " threads");
            }
        });
    }

    public static Rate of(double rate) {
        return new Rate(Map.of(1, rate));
    }

    /** This rate divided by {@code divisor}, at any number of threads. */
    Rate dividedBy(int divisor) {
        return times(1.0 / divisor);
    }

    /** This rate multiplied, at any number of threads. */
    Rate times(double factor) {
        Map<Integer, Double> others = new TreeMap<>();
        byThreads.forEach((threads, rate) -> others.put(threads, rate * factor));
        return new Rate(others);
    }

    /** This rate with another total of so many threads. */
    Rate with(int threads, double rate) {
        Map<Integer, Double> others = new TreeMap<>(byThreads);
        others.put(threads, rate);
        return new Rate(others);
    }

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    static Rate read(JsonNode node) {
        if (node.isNumber()) {
            return of(node.asDouble());
        }
        if (!node.isObject()) {
            throw new IllegalArgumentException("a rate is a number or a map from threads to numbers");
        }
        Map<Integer, Double> rates = new TreeMap<>();
        for (Map.Entry<String, JsonNode> each : node.properties()) {
            if (!each.getKey().matches("[1-9][0-9]{0,8}") || !each.getValue().isNumber()) {
                throw new IllegalArgumentException(
                        "a rate has '" + each.getKey() + ": " + each.getValue() + "' where it wants 'threads: MB/s'");
            }
            rates.put(Integer.parseInt(each.getKey()), each.getValue().asDouble());
        }
        return new Rate(rates);
    }

    /** Writes a single number as a number. */
    @JsonValue
    Object written() {
        Double alone = byThreads.size() == 1 ? byThreads.get(1) : null;
        return alone == null ? byThreads : alone;
    }

    Throughput throughput() {
        List<Throughput.Point> points = byThreads.entrySet().stream()
                .map(e -> new Throughput.Point(e.getKey(), e.getValue() * MEGA))
                .toList();
        return new Throughput(points);
    }
}
