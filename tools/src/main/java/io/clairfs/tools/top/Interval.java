package io.clairfs.tools.top;

import tools.jackson.databind.JsonNode;

/**
 * What a mount did between two readings of its status.
 *
 * @param before the earlier status
 * @param now the later one, of the same daemon
 */
public record Interval(JsonNode before, JsonNode now) {
    private static final String UPTIME = "/uptime_seconds";

    /** Whether one daemon said both: a later one begins anew. */
    public boolean isOfOneDaemon() {
        return before.path("pid").asLong() == now.path("pid").asLong() && seconds() > 0;
    }

    double seconds() {
        return now.at(UPTIME).asDouble() - before.at(UPTIME).asDouble();
    }

    /** The growth of a counter, given as a JSON pointer, per second. */
    double rate(String counter) {
        return (now.at(counter).asDouble() - before.at(counter).asDouble()) / seconds();
    }

    /** The growth of a counter for each one of another; 0 while that does not grow. */
    double each(String counter, String of) {
        double many = now.at(of).asDouble() - before.at(of).asDouble();
        return many == 0 ? 0 : (now.at(counter).asDouble() - before.at(counter).asDouble()) / many;
    }
}
