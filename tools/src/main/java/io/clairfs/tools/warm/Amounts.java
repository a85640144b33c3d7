package io.clairfs.tools.warm;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What of the samples that a plan wants on this node is there.
 *
 * @param isPlanned whether there is a plan
 * @param residentSamples all samples in the tiers, wanted or not
 * @param arriving bytes that the source has given of wanted samples that are not whole yet
 * @param arrivingWhole wanted samples that another place is giving, such as a peer: nothing is known of their bytes before they are here
 */
public record Amounts(
        boolean isPlanned,
        long wantedSamples,
        long wantedBytes,
        long thereSamples,
        long thereBytes,
        long residentSamples,
        long residentBytes,
        long arriving,
        long arrivingWhole) {

    /** The amounts in {@code warm.json}, of one job or of all. A job that has just begun may be missing there, as without a plan. */
    public static Amounts of(JsonNode warm, @Nullable String job) {
        JsonNode at = warm;
        boolean isPlanned = warm.path("is_planned").asBoolean();
        if (job != null) {
            at = JobOf.named(warm, job);
            isPlanned = at.path("is_planned").asBoolean(false);
        }
        return new Amounts(
                isPlanned,
                at.path("wanted").path("samples").asLong(),
                at.path("wanted").path("bytes").asLong(),
                at.path("there").path("samples").asLong(),
                at.path("there").path("bytes").asLong(),
                warm.path("resident").path("samples").asLong(),
                warm.path("resident").path("bytes").asLong(),
                warm.path("arriving").path("bytes").asLong(),
                warm.path("arriving").path("whole").asLong());
    }

    /** Bytes that have come, those included of samples that are not whole yet. */
    long cameBytes() {
        return thereBytes + arriving;
    }

    /** Whether nothing that is wanted is missing. Before there is a plan nobody knows. */
    public boolean isComplete() {
        return isPlanned && thereSamples >= wantedSamples;
    }

    private static final class JobOf {
        private static JsonNode named(JsonNode warm, String name) {
            for (JsonNode job : warm.path("jobs")) {
                if (job.path("name").asString("").equals(name)) {
                    return job;
                }
            }
            return warm.path("jobs").path(-1);
        }
    }
}
