package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A process with several threads that reads files on request, so that the test's own JVM never touches a page of a mount. */
final class StressReader implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();

    private final Process process;
    private final BufferedWriter in;
    private final Map<Long, Asked> pending = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    private volatile boolean closed;

    private record Asked(ObjectNode question, Consumer<JsonNode> whenAnswered) {}

    private StressReader(Process process) {
        this.process = process;
        in = process.outputWriter(UTF_8);
    }

    static StressReader start(MountFixture fixture, int threads) throws IOException {
        Path said = fixture.newDirectory("reader").resolve("said");
        Process process = new ProcessBuilder(fixture.pythonCommand("stress_reader.py", threads))
                .redirectError(said.toFile())
                .start();
        StressReader reader = new StressReader(process);
        Thread.ofPlatform().daemon().name("stress answers").start(reader::receive);
        return reader;
    }

    /** A question about a path, without its parameters. */
    static ObjectNode question(String how, Path path) {
        return JSON.createObjectNode().put("op", how).put("path", path.toString());
    }

    /** Asks without waiting. {@code whenAnswered} runs on another thread. */
    void ask(ObjectNode question, Consumer<JsonNode> whenAnswered) throws IOException {
        long id = ids.incrementAndGet();
        question.put("id", id);
        pending.put(id, new Asked(question, whenAnswered));
        synchronized (in) {
            in.write(question.toString());
            in.write('\n');
            in.flush();
        }
    }

    int pending() {
        return pending.size();
    }

    /** The questions without an answer, for a message. */
    String pendingQuestions() {
        return pending.values().stream().map(Asked::question).toList().toString();
    }

    private void receive() {
        try (BufferedReader out = process.inputReader(UTF_8)) {
            String line;
            while ((line = out.readLine()) != null) {
                JsonNode answer = JSON.readTree(line);
                Asked asked = pending.get(answer.path("id").asLong());
                asked.whenAnswered().accept(answer);
                pending.remove(answer.path("id").asLong());
            }
        } catch (IOException e) {
            if (!closed) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        process.destroyForcibly();
    }
}
