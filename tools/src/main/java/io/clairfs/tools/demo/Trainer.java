package io.clairfs.tools.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.tools.scratch.Scratch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Runs a training script in a process of its own and reads its reports, one JSON line per batch and per epoch. */
final class Trainer {
    /** The longest silence of a trainer that still counts as alive. */
    private static final long SILENCE_TIMEOUT_S = 120;

    private static final long END_TIMEOUT_S = 30;
    private static final int LINES_AHEAD = 1024;
    private static final String NO_MORE_LINES = "";
    private static final JsonMapper JSON = new JsonMapper();

    private static final String SCRIPT = "trainer.py";

    private final Python python;
    private final Path script;
    private final Path log;
    private final Scratch scratch;
    private final List<String> clairfs;

    /** Puts the script for {@code python} into {@code scratch}. {@code clairfs} are the words that run the command {@code clairfs}. */
    Trainer(Python python, Scratch scratch, List<String> clairfs) throws IOException {
        this.python = python;
        this.clairfs = clairfs;
        this.scratch = scratch;
        script = scratch.directory().resolve(SCRIPT);
        log = scratch.directory().resolve("trainer.log");
        try (InputStream in = Trainer.class.getResourceAsStream(SCRIPT)) {
            if (in == null) {
                throw new AssertionError("this build lacks " + SCRIPT);
            }
            Files.copy(in, script, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Receives the trainer's progress while it runs. */
    interface Listener {
        /** A batch was computed. */
        void batch(int epoch, int batch);

        /** An epoch, counted from 1, is over. */
        void epoch(Epoch epoch);
    }

    /**
     * The trainer's measurements of one epoch.
     *
     * @param number counts from 1
     * @param waitSeconds the part of {@code seconds} in which the trainer had no batch to compute
     */
    record Epoch(int number, double seconds, double waitSeconds, Content content) {}

    /** Who gives the trainer its batches. */
    enum Batches {
        /** Its own reader processes. */
        LOADED,
        /** The feeder of the mount that it reads. */
        FED
    }

    /** Trains over the dataset at {@code root} until all epochs are over. */
    void train(Path root, DemoSpec spec, Batches batches, Listener listener) throws IOException {
        Process process = scratch.start(new ProcessBuilder(command(root, spec, batches)).redirectError(log.toFile()));
        process.getOutputStream().close();
        try {
            BlockingQueue<String> lines = linesOf(process);
            for (String line = next(lines, process); !line.equals(NO_MORE_LINES); line = next(lines, process)) {
                tell(line, listener);
            }
            if (!process.waitFor(END_TIMEOUT_S, TimeUnit.SECONDS)) {
                throw new DemoException("the trainer is through but does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoException("interrupted while training");
        } finally {
            process.destroyForcibly();
        }
        if (process.exitValue() != 0) {
            throw new DemoException("the trainer failed: " + lastWords());
        }
    }

    private List<String> command(Path root, DemoSpec spec, Batches batches) {
        List<String> command = new ArrayList<>(List.of(
                python.executable().toString(),
                script.toString(),
                root.toString(),
                "--epochs=" + spec.epochs(),
                "--batch=" + DemoSpec.BATCH,
                "--workers=" + spec.workers(),
                "--seed=" + DemoSpec.SEED,
                "--compute-ms=" + spec.compute().toMillis()));
        if (!python.torch()) {
            command.add("--plain");
        }
        if (spec.fed()) {
            command.add("--size=" + DemoSpec.PIXELS);
        }
        if (batches == Batches.FED) {
            command.add("--feed=" + JSON.writeValueAsString(clairfs));
        }
        if (!spec.told()) {
            command.add("--no-seed");
        }
        return command;
    }

    private static BlockingQueue<String> linesOf(Process process) {
        BlockingQueue<String> lines = new ArrayBlockingQueue<>(LINES_AHEAD);
        Thread.ofPlatform().daemon().name("trainer's lines").start(() -> {
            try (BufferedReader reader = process.inputReader(UTF_8)) {
                String line;
                while ((line = reader.readLine()) != null) {
                    lines.put(line);
                }
            } catch (IOException gone) {
                assert gone != null; // the process was destroyed
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                var _ = lines.offer(NO_MORE_LINES);
            }
        });
        return lines;
    }

    private String next(BlockingQueue<String> lines, Process process) throws InterruptedException, IOException {
        String line = lines.poll(SILENCE_TIMEOUT_S, TimeUnit.SECONDS);
        if (line == null) {
            process.destroyForcibly();
            throw new DemoException("the trainer said nothing for " + SILENCE_TIMEOUT_S + " s: " + lastWords());
        }
        return line;
    }

    private static void tell(String line, Listener listener) throws DemoException {
        try {
            JsonNode said = JSON.readTree(line);
            int epoch = said.required("epoch").asInt();
            switch (said.required("event").asString()) {
                case "batch" -> listener.batch(epoch, said.required("batch").asInt());
                case "epoch" ->
                    listener.epoch(new Epoch(
                            epoch,
                            said.required("seconds").asDouble(),
                            said.required("wait_seconds").asDouble(),
                            new Content(
                                    said.required("samples").asLong(),
                                    said.required("bytes").asLong(),
                                    said.required("checksum").asLong())));
                default -> throw new DemoException("the trainer said what is not understood: " + line);
            }
        } catch (JacksonException e) {
            throw new DemoException("the trainer said what is not understood: " + line);
        }
    }

    private String lastWords() throws IOException {
        return Files.readString(log, UTF_8)
                .lines()
                .filter(line -> !line.isBlank())
                .reduce((_, last) -> last)
                .map(String::strip)
                .orElse("it gave no reason");
    }
}
