package io.clairfs.tools.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.clairfs.tools.simulate.report.Figures;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a mount measured of a job, as its {@code status.json} says.
 *
 * @param sampleSeconds that a sample takes all its trainers here while no reader waits; null while that is not known
 * @param note what looks wrong with the job; null if nothing does
 * @param epochs the last ones, in order
 */
public record MeasuredJob(
        String name,
        boolean inSync,
        @Nullable Double sampleSeconds,
        @Nullable String note,
        List<Epoch> epochs) {
    /** Places that samples come from, in the order of their nearness. */
    static final List<String> PLACES = List.of("memory", "ssd", "peer", "source");

    /** Limits of a wait that differ by less than this share of the epoch are as good as one figure. */
    private static final double CLOSE = 0.05;

    private static final double PERCENT = 100;

    public MeasuredJob {
        epochs = List.copyOf(epochs);
    }

    /** Samples and bytes. */
    record Amount(long count, long bytes) {}

    /** One epoch: the keys of {@code jobs[].history[]}, and for {@link ReportJson} that of {@link #utilisationAtMost}. */
    record Epoch(
            int epoch,
            boolean over,
            double seconds,
            int samples,
            double readerWaitSeconds,
            double waitedSeconds,
            double waitedAtLeastSeconds,
            boolean told,
            double utilisation,
            long opened,
            long fromPageCache,
            Map<String, Amount> fetched) {
        Amount from(String place) {
            return fetched.getOrDefault(place, new Amount(0, 0));
        }

        /** Whether the limits of the wait are as good as one figure. */
        @JsonIgnore
        boolean isClose() {
            return waitedSeconds - waitedAtLeastSeconds < CLOSE * seconds;
        }

        /** How long the training waited: {@code 7.00 s}, or {@code 4.91 s to 8.14 s}. */
        String waited() {
            String most = Figures.seconds(waitedSeconds);
            String least = Figures.seconds(waitedAtLeastSeconds);
            return most.equals(least) ? most : least + " to " + most;
        }

        /** The same for a column of seconds. */
        String waitedInColumn() {
            String most = String.format(Locale.ROOT, "%.2f", waitedSeconds);
            String least = String.format(Locale.ROOT, "%.2f", waitedAtLeastSeconds);
            return most.equals(least) ? most : least + " to " + most;
        }

        /** The accelerator utilisation: {@code 41.7 %}, or {@code 4.0 to 42.1 %}. */
        String percent() {
            String least = String.format(Locale.ROOT, "%.1f", PERCENT * utilisation);
            String most = String.format(Locale.ROOT, "%.1f", PERCENT * utilisationAtMost());
            return (least.equals(most) ? least : least + " to " + most) + " %";
        }

        /** The accelerator utilisation, at most. */
        @JsonProperty
        double utilisationAtMost() {
            return seconds > 0 ? 1 - waitedAtLeastSeconds / seconds : 1;
        }

        /** Such as {@code epoch 3 so far}. */
        String name() {
            return "epoch " + epoch + (over ? "" : " so far");
        }

        private static Epoch of(JsonNode json) {
            Map<String, Amount> fetched = new LinkedHashMap<>();
            for (String place : PLACES) {
                JsonNode from = json.path("fetched").path(place);
                fetched.put(
                        place,
                        new Amount(
                                from.path("count").asLong(), from.path("bytes").asLong()));
            }
            return new Epoch(
                    json.path("epoch").asInt(),
                    json.path("over").asBoolean(),
                    json.path("seconds").asDouble(),
                    json.path("samples").asInt(),
                    json.path("reader_wait_seconds").asDouble(),
                    json.path("waited_seconds").asDouble(),
                    json.path("waited_at_least_seconds").asDouble(),
                    json.path("told").asBoolean(),
                    json.path("utilisation").asDouble(),
                    json.path("opened").asLong(),
                    json.path("from_page_cache").asLong(),
                    fetched);
        }
    }

    /** As the status of the mount says. */
    static MeasuredJob of(JsonNode job) {
        List<Epoch> epochs = new ArrayList<>();
        job.path("history").forEach(epoch -> epochs.add(Epoch.of(epoch)));
        JsonNode sample = job.path("sample_seconds");
        JsonNode note = job.path("note");
        return new MeasuredJob(
                job.path("name").asString(),
                job.path("in_sync").asBoolean(),
                sample.isNumber() ? sample.asDouble() : null,
                note.isString() ? note.asString() : null,
                epochs);
    }

    /**
     * What a sample takes all trainers here beside waiting: as they told, as seen while no reader waits, else what the waits left of the {@link
     * #telling} epoch, halfway between the most and the least of them; 0 if nothing was read.
     */
    double paceSeconds() {
        Epoch epoch = telling();
        if (sampleSeconds != null && (epoch == null || !epoch.told)) {
            return sampleSeconds;
        }
        return epoch == null || epoch.samples == 0
                ? 0
                : Math.max(0, epoch.seconds - (epoch.waitedAtLeastSeconds + epoch.waitedSeconds) / 2) / epoch.samples;
    }

    /**
     * The share of the samples that the last epoch but the first brought from nowhere: the page cache kept them from the epoch before. 0 while that
     * is not known. Only right where the node has no other job.
     */
    double keptInPageCache() {
        Epoch epoch = telling();
        if (epoch == null || !epoch.over || epoch.epoch == 0 || epoch.samples == 0 || epoch.opened == 0) {
            return 0;
        }
        long fetched = epoch.fetched.values().stream().mapToLong(Amount::count).sum();
        return Math.clamp(1 - (double) fetched / epoch.samples, 0, 1);
    }

    /** Whether {@link #paceSeconds} is more than a guess between two limits. */
    boolean isPaceKnown() {
        Epoch epoch = telling();
        return sampleSeconds != null || (epoch != null && epoch.isClose());
    }

    /** The epoch that says most about those to come: the last that is over, else the one under way. Null before the first read. */
    @Nullable
    Epoch telling() {
        for (int i = epochs.size() - 1; i >= 0; i--) {
            if (epochs.get(i).over) {
                return epochs.get(i);
            }
        }
        return epochs.isEmpty() ? null : epochs.getLast();
    }
}
