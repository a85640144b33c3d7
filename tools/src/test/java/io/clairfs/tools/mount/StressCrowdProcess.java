package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.opentest4j.TestAbortedException;

/** A process whose threads read and compare all the time ({@code stress_crowd.c}). It prints only counts and errors. */
final class StressCrowdProcess implements AutoCloseable {
    private static final String SOURCE = "stress_crowd.c";

    private final Process process;
    private final BufferedWriter in;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Consumer<String[]> said;
    private volatile long saidNs = System.nanoTime();
    private volatile boolean closed;

    private StressCrowdProcess(Process process, Consumer<String[]> said) {
        this.process = process;
        this.said = said;
        in = process.outputWriter(UTF_8);
    }

    /** Compiles the program. Without a compiler the test is skipped. */
    static Path compile(MountFixture fixture) throws IOException, InterruptedException {
        if (!Requirements.works("gcc", "--version")) {
            System.out.println("skipped: gcc is missing");
            throw new TestAbortedException("gcc is missing");
        }
        Path directory = fixture.newDirectory("crowd");
        Path code = directory.resolve(SOURCE);
        try (var resource = StressCrowdProcess.class.getResourceAsStream(SOURCE)) {
            Files.copy(resource, code);
        }
        Path program = directory.resolve("stress_crowd");
        Ended.run(List.of("gcc", "-O2", "-pthread", "-o", program.toString(), code.toString()), Map.of())
                .succeeded();
        return program;
    }

    /**
     * Starts the process at the lowest priority, so that daemons can start and faults can strike. A separate thread passes the words of
     * each line to {@code said}.
     */
    static StressCrowdProcess start(Path program, int threads, long seed, Consumer<String[]> said) throws IOException {
        List<String> command =
                List.of("nice", "-n", "19", program.toString(), Integer.toString(threads), Long.toString(seed));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        StressCrowdProcess crowd = new StressCrowdProcess(process, said);
        Thread.ofPlatform().daemon().name("stress crowd").start(crowd::receive);
        return crowd;
    }

    /** Sends a line to the process. */
    void tell(String line) {
        try {
            synchronized (in) {
                in.write(line);
                in.write('\n');
                in.flush();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void receive() {
        try (BufferedReader out = process.inputReader(UTF_8)) {
            String line;
            while ((line = out.readLine()) != null) {
                saidNs = System.nanoTime();
                if (line.equals("ended")) {
                    ended.countDown();
                } else {
                    said.accept(line.split(" "));
                }
            }
        } catch (IOException e) {
            if (!closed) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** The time since its last line, seconds. It prints a line every second. */
    long silentS() {
        return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - saidNs);
    }

    /** Lets the process finish its reads. Returns false if that takes longer than the bound. */
    boolean end(long boundS) throws InterruptedException {
        tell("stop");
        return ended.await(boundS, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        closed = true;
        process.destroyForcibly();
    }
}
