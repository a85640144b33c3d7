package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A process that reads the epochs of one rank, compares every byte with the dataset, and prints a line for each epoch. */
record RankTrainer(String name, Process process, Path said, Path stop) {
    private static final JsonMapper JSON = new JsonMapper();
    private static final long PATIENCE_S = 600;

    /** Its output so far: a line when it is ready, then one line for each epoch. */
    private List<JsonNode> lines() throws IOException {
        List<JsonNode> lines = new ArrayList<>();
        String text = Files.readString(said);
        text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach(line -> lines.add(JSON.readTree(line)));
        return lines;
    }

    /** The epochs read so far. */
    List<JsonNode> epochs() throws IOException {
        return lines().stream().skip(1).toList();
    }

    /** Waits until the trainer is ready to begin. */
    void awaitReady() throws IOException, InterruptedException {
        awaitLines(1);
    }

    /** Waits until the trainer has read {@code epochs} more epochs. */
    void awaitMore(int epochs) throws IOException, InterruptedException {
        awaitLines(1 + epochs().size() + epochs);
    }

    private void awaitLines(int until) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
        while (lines().size() < until) {
            if (!process.isAlive() && lines().size() < until) {
                throw new AssertionError(name + " has ended: " + complaints());
            }
            if (System.nanoTime() > deadline) {
                throw new AssertionError(name + " has not said " + until + " lines: " + lines());
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    /** Ends the trainer after its current epoch. Returns the longest time that one sample took, in seconds. */
    double finish() throws IOException, InterruptedException {
        if (!Files.exists(stop)) {
            Files.createFile(stop);
        }
        return finished();
    }

    /**
     * Waits for the trainer's end. Every sample of every epoch must have been right. Returns the longest time that one sample took, in
     * seconds.
     */
    double finished() throws IOException, InterruptedException {
        if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
            throw new AssertionError(name + " does not end: " + epochs());
        }
        assertThat(process.exitValue()).as("%s: %s", name, complaints()).isZero();
        List<JsonNode> epochs = epochs();
        assertThat(epochs).as(name).isNotEmpty();
        double longest = 0;
        for (JsonNode epoch : epochs) {
            assertThat(epoch.path("equal").asInt())
                    .as("%s: samples with the right bytes: %s", name, epoch)
                    .isEqualTo(epoch.path("read").asInt())
                    .isPositive();
            longest = Math.max(longest, epoch.path("longest").asDouble());
        }
        return longest;
    }

    /**
     * The time of each epoch that all these trainers have read, in seconds: from the end of the previous epoch to the end of this one on the
     * slowest trainer.
     */
    static double[] epochSeconds(List<RankTrainer> trainers) throws IOException {
        double from = Double.MAX_VALUE;
        int epochs = Integer.MAX_VALUE;
        for (RankTrainer trainer : trainers) {
            epochs = Math.min(epochs, trainer.epochs().size());
            from = Math.min(from, trainer.epochs().getFirst().path("began").asDouble());
        }
        double[] seconds = new double[epochs];
        for (int epoch = 0; epoch < epochs; epoch++) {
            double ended = 0;
            for (RankTrainer trainer : trainers) {
                ended = Math.max(
                        ended, trainer.epochs().get(epoch).path("ended").asDouble());
            }
            seconds[epoch] = ended - from;
            from = ended;
        }
        return seconds;
    }

    private String complaints() throws IOException {
        return Files.readString(said.resolveSibling(name + ".err"));
    }
}
