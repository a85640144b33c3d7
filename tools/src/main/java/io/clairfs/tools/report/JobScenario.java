package io.clairfs.tools.report;

import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.model.Throughput;
import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.simulate.scenario.Rate;
import io.clairfs.tools.simulate.scenario.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A job of a mount as the simulator's scenario: its dataset, its steps and its pace from the status, the rates of this machine from {@code
 * clairfs calibrate}.
 *
 * @param scenario whose memory is that of the tier and what the page cache keeps
 * @param keptMega what the page cache keeps from one epoch to the next, MB
 * @param assumed what was neither measured nor told, a sentence each
 */
record JobScenario(Scenario scenario, double keptMega, List<String> assumed) {
    private static final double MEGA = 1e6;
    private static final double PERCENT = 100;
    private static final int MOST_EPOCHS = 4;
    private static final int DEFAULT_BATCH = 32;

    /** The job cannot be simulated; the message says why, and what to do. */
    static final class UnknownException extends Exception {
        private static final long serialVersionUID = 1;

        UnknownException(String message) {
            super(message);
        }
    }

    /**
     * Makes the scenario.
     *
     * @param status of the mount
     * @param job one of its jobs
     * @param stepSeconds what a step takes when data is there, as the user says; null to take it from what was measured
     * @param measured on this machine
     */
    static JobScenario of(JsonNode status, JsonNode job, @Nullable Double stepSeconds, ModelFile measured)
            throws UnknownException {
        if (!(status.path("samples").asLong() > 0 && job.path("samples").asInt() > 0)) {
            throw new UnknownException(
                    "the dataset is still being listed; try again when 'clairfs status' shows the job");
        }
        List<String> assumed = new ArrayList<>();
        int ranksHere = job.path("readers").size();
        int nodes = nodes(status, job);
        if (ranksHere == 0) {
            throw new UnknownException("no rank of the job reads on this node; ask the mount of a node where one does");
        }
        if (nodes == 1 && ranksHere < job.path("world").asInt()) {
            throw new UnknownException("the job has ranks on other nodes that share no caches with this one, which the"
                    + " simulator cannot see; mount with --members to share them");
        }
        int batch = batch(job, assumed) * ranksHere;
        double sampleSeconds = stepSeconds == null ? pace(MeasuredJob.of(job), assumed) : stepSeconds / batch;
        double sampleMega =
                status.path("bytes").asDouble() / status.path("samples").asDouble() / MEGA;
        assumed.add("all samples are of the mean size");
        int epochs = job.path("epochs").isNumber()
                ? Math.min(MOST_EPOCHS, job.path("epochs").asInt())
                : MOST_EPOCHS;
        int loaders = Math.max(1, status.at("/staging/loaders").asInt());
        double source = measured.model().source().at(loaders) / MEGA;
        if (nodes > 1) {
            assumed.add("all nodes together get from the source what this one gets alone");
            if (measured.network() == null) {
                assumed.add(String.format(
                        Locale.ROOT,
                        "the network of a node carries %,.0f MB/s",
                        measured.model().networkBytesPerSecond() / MEGA));
            }
        }
        if (measured.memory() == null) {
            assumed.add("memory is as fast as usual ('clairfs calibrate --memory' measures it)");
        }
        if (measured.ssd() == null) {
            assumed.add("an SSD is as fast as usual ('clairfs calibrate --ssd DIR' measures it)");
        }
        assumed.add("only loaders read the source, not readers that ask, so reality may be better");
        double kept = kept(status, job, assumed) * job.path("samples").asInt() * sampleMega;
        return new JobScenario(
                new Scenario(
                        job.path("name").asString(),
                        nodes,
                        sampleMega / sampleSeconds,
                        measured.preprocess() == null ? 1e6 : measured.preprocess(),
                        measured.model().networkBytesPerSecond() / MEGA,
                        new Scenario.Staging(
                                status.at("/staging/capacity_bytes").asDouble() / MEGA, loaders, null, null),
                        devices(status, kept, measured),
                        null,
                        Rate.of(source),
                        new Scenario.Dataset(job.path("samples").asInt(), sampleMega, 0),
                        epochs,
                        Math.min(batch, Math.max(1, job.path("samples").asInt() / nodes)),
                        false,
                        1,
                        nodes == 1 ? Scenario.Sync.NONE : Scenario.Sync.BULK,
                        null),
                kept,
                List.copyOf(assumed));
    }

    /** The share of the dataset that the page cache keeps. */
    private static double kept(JsonNode status, JsonNode job, List<String> assumed) {
        double kept = status.path("jobs").size() == 1 ? MeasuredJob.of(job).keptInPageCache() : 0;
        assumed.add(
                kept > 0
                        ? String.format(
                                Locale.ROOT,
                                "the page cache keeps %.0f %% of the dataset from one epoch to the next, as it did last",
                                PERCENT * kept)
                        : "the page cache keeps nothing from one epoch to the next, so reality may be better");
        return kept;
    }

    private static double pace(MeasuredJob job, List<String> assumed) throws UnknownException {
        double pace = job.paceSeconds();
        if (pace == 0) {
            throw new UnknownException(
                    job.epochs().isEmpty()
                            ? "nothing was read yet; try again when the training has run for a while"
                            : "what a step takes when data is there is not known, for readers have waited all the time; say"
                                    + " it: --step SECONDS");
        }
        if (!job.isPaceKnown()) {
            assumed.add(
                    "the training waited for half of the time in which it may have waited (--step SECONDS says what a step"
                            + " takes; clairfs_torch.report(loader) in the training tells how long it waits)");
        }
        return pace;
    }

    private static int nodes(JsonNode status, JsonNode job) {
        for (JsonNode each : status.at("/group/jobs")) {
            if (each.path("name").asString().equals(job.path("name").asString())) {
                int reading = 0;
                for (JsonNode ranks : each.path("ranks")) {
                    reading += ranks.asString().isEmpty() || ranks.asString().equals("none") ? 0 : 1;
                }
                return Math.max(1, reading);
            }
        }
        return 1;
    }

    private static int batch(JsonNode job, List<String> assumed) {
        int batch = job.path("batch").asInt();
        if (batch > 0) {
            return batch;
        }
        assumed.add("a batch has " + DEFAULT_BATCH + " samples, for the job does not say it (batch=)");
        return DEFAULT_BATCH;
    }

    /** Memory, and all SSDs as one, which may have no room. */
    private static List<Scenario.Device> devices(JsonNode status, double kept, ModelFile measured) {
        double memory = kept;
        double ssd = 0;
        for (JsonNode tier : status.path("tiers")) {
            double mega = tier.path("capacity_bytes").asDouble() / MEGA;
            if (tier.path("name").asString().equals("memory")) {
                memory += mega;
            } else {
                ssd += mega;
            }
        }
        return List.of(device(measured.memoryClass(0), memory), device(measured.ssdClass(0), ssd));
    }

    private static Scenario.Device device(StorageClass of, double mega) {
        return new Scenario.Device(of.name(), mega, of.threads(), rate(of.read()), rate(of.write()));
    }

    private static Rate rate(Throughput of) {
        Map<Integer, Double> byThreads = new TreeMap<>();
        of.points().forEach(point -> byThreads.put(point.threads(), point.bytesPerSecond() / MEGA));
        return new Rate(byThreads);
    }
}
