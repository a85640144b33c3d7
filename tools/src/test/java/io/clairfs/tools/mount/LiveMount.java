package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A running mount, seen through its control files. */
record LiveMount(Path point) {
    private static final JsonMapper JSON = new JsonMapper();
    private static final long PATIENCE_S = 120;

    Path control(String file) {
        return point.resolve(".clairfs").resolve(file);
    }

    String read(String file) throws IOException {
        return Files.readString(control(file), UTF_8);
    }

    List<String> lines(String file) throws IOException {
        return read(file).lines().toList();
    }

    /** Writes one message to the job file. */
    void job(String line) throws IOException {
        try {
            Files.writeString(control("job"), line + "\n", StandardOpenOption.WRITE);
        } catch (IOException e) {
            e.addSuppressed(new IOException(read("errors"))); // the reason
            throw e;
        }
    }

    /** Stops all jobs. */
    void stopJobs() throws IOException {
        for (JsonNode job : status().path("jobs")) {
            job("stop=" + job.path("name").asString());
        }
    }

    /** The answer of {@code .clairfs/where} for a file of the dataset. */
    JsonNode where(String path) throws IOException {
        return JSON.readTree(read("where/" + path));
    }

    JsonNode status() throws IOException {
        return JSON.readTree(read("status.json"));
    }

    long pid() throws IOException {
        return status().path("pid").asLong();
    }

    /** The stacks of the daemon's threads. */
    String threads() throws IOException, InterruptedException {
        Path java = Path.of(ProcessHandle.current().info().command().orElseThrow());
        return Ended.run(
                        List.of(java.resolveSibling("jcmd").toString(), Long.toString(pid()), "Thread.print"), Map.of())
                .out();
    }

    /** The watchdog process of the daemon, which is its only one when those are gone that helped to mount. */
    ProcessHandle watchdog() throws Exception {
        ProcessHandle daemon = ProcessHandle.of(pid()).orElseThrow();
        List<ProcessHandle> found = new ArrayList<>();
        Waiting.until("there is one watchdog", () -> {
            found.clear();
            daemon.children().filter(child -> !hasEnded(child)).forEach(found::add);
            return found.size() == 1;
        });
        return found.getFirst();
    }

    private static boolean hasEnded(ProcessHandle process) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"), UTF_8);
            return stat.charAt(stat.lastIndexOf(')') + 2) == 'Z';
        } catch (IOException gone) {
            return true;
        }
    }

    /** Waits, within a generous bound, until {@code said} holds for the status. */
    JsonNode await(String what, Predicate<JsonNode> said) throws IOException, InterruptedException {
        return await(what, said, PATIENCE_S);
    }

    /** The same within a given bound, in seconds. */
    JsonNode await(String what, Predicate<JsonNode> said, long patienceS) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(patienceS);
        JsonNode now = status();
        while (!said.test(now)) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("never " + what + ": " + now.toPrettyString());
            }
            TimeUnit.MILLISECONDS.sleep(20);
            now = status();
        }
        return now;
    }

    JsonNode awaitReady() throws IOException, InterruptedException {
        return await("ready", s -> s.path("ready").asBoolean());
    }

    /** Until then a daemon that is killed stays dead: the supervisor starts when the dataset is listed. */
    void awaitSupervisor() throws Exception {
        Waiting.until("there is a supervisor", () -> {
            try {
                return !lines("upgrade").isEmpty();
            } catch (IOException notYet) {
                return false;
            }
        });
    }

    /** Waits for the daemon that takes over from process {@code pid}. Returns its process. */
    long awaitNext(long pid) throws Exception {
        long[] next = new long[1];
        Waiting.until("another daemon answers", () -> {
            try {
                next[0] = pid();
                return next[0] != pid && status().path("ready").asBoolean();
            } catch (IOException notYet) {
                return false;
            }
        });
        return next[0];
    }

    /** The sample indices that a rank of a job reads in an epoch. */
    List<String> order(String job, int epoch, int rank) throws IOException {
        return lines("order/" + job + "/" + epoch + "/" + rank);
    }
}
