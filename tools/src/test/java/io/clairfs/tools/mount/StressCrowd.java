package io.clairfs.tools.mount;

import io.clairfs.fs.faulty.FileContent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import tools.jackson.databind.JsonNode;

/**
 * Processes that read any files of all mounts in all ways, thousands of times a second, and compare the bytes. This class judges failed
 * reads.
 */
final class StressCrowd implements StressNode.Watcher, AutoCloseable {
    private static final int PROCESSES = 8;
    private static final int THREADS = 4;

    /** Longer than any read takes. */
    private static final long PATIENCE_S = 180;

    /** Positions of the words of a line: the mount, the file, the way of reading, the times, and so on. */
    private static final int MOUNT = 1;

    private static final int FILE = 2;
    private static final int MODE = 3;
    private static final int OFFSET = 4;
    private static final int LENGTH = 5;
    private static final int START = 6;
    private static final int END = 7;
    private static final int LONGEST = 8;
    private static final int ERRNO = 9;
    private static final int SIZE = 9;
    private static final int GOT = 10;
    private static final int WRONG_AT = 11;
    private static final int WRONG_BYTES = 12;
    private static final double NANOS_PER_SECOND = 1e9;

    private final StressReport report;
    private final StressSource source;
    private final StressJudge judge;
    private final List<StressCrowdProcess> processes = new ArrayList<>();
    private final List<StressNode> nodes = new ArrayList<>();
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<Integer, StressNode> byNumber = new ConcurrentHashMap<>();
    private volatile String when = "the beginning";

    StressCrowd(MountFixture fixture, StressReport report, StressSource source, StressJudge judge)
            throws IOException, InterruptedException {
        this.report = report;
        this.source = source;
        this.judge = judge;
        Path program = StressCrowdProcess.compile(fixture);
        for (int i = 0; i < PROCESSES; i++) {
            long seed = ThreadLocalRandom.current().nextLong();
            processes.add(StressCrowdProcess.start(program, THREADS, seed, this::said));
        }
        for (String path : source.paths()) {
            tell("file " + numbers.size() + " " + path);
            numbers.put(path, numbers.size());
        }
    }

    private void tell(String line) {
        processes.forEach(p -> p.tell(line));
    }

    /** Sets the reads per second of all processes together. The machine and the faults may allow fewer. */
    void pace(int readsPerSecond) {
        tell("pace " + readsPerSecond / PROCESSES);
    }

    /** Sets the seed and the current step, for messages. */
    void during(String seedAndStep) {
        when = seedAndStep;
    }

    @Override
    public void lists(StressNode node, Map<String, FileContent> next) {
        if (!nodes.contains(node)) {
            byNumber.put(nodes.size(), node);
            nodes.add(node);
            tell("mount " + nodes.indexOf(node) + " " + node.point());
        }
        StringBuilder line = new StringBuilder("next " + nodes.indexOf(node));
        for (String path : source.paths()) {
            FileContent content = next.get(path);
            line.append(' ').append(content.seed().orElseThrow()).append(' ').append(content.size());
        }
        tell(line.toString());
    }

    @Override
    public void settled(StressNode node) {
        tell("settled " + nodes.indexOf(node));
    }

    /** Records the requests to the daemon, because its counts end with it. */
    @Override
    public void ends(StressNode node) throws Exception {
        JsonNode reads = node.control(() -> node.mount().status()).path("reads");
        report.asked(
                node.pid(),
                new StressReport.Asked(
                        reads.path("opened").asLong(),
                        reads.path("upcalls").asLong(),
                        reads.path("requests").asLong()));
    }

    @Override
    public void took(String part, long startNs) {
        report.took("remounts: " + part, startNs, System.nanoTime());
    }

    /** Makes one thread of one process a trainer, until it has read these files. */
    void follow(StressNode node, List<String> paths) {
        int number = nodes.indexOf(node);
        StringBuilder line = new StringBuilder("order " + number);
        paths.forEach(path -> line.append(' ').append(numbers.get(path)));
        processes.get(number % PROCESSES).tell(line.toString());
    }

    private void said(String[] words) {
        try {
            switch (words[0]) {
                case "did" -> did(words);
                case "failed" ->
                    judge.judgeFailure(
                            read(words), number(words, ERRNO), seconds(number(words, LONGEST)), number(words, END));
                case "wrong" -> report.mismatch(read(words) + ": " + wrong(words));
                case "slow" -> judge.wonder(read(words));
                case "long" ->
                    report.noted(read(words) + ": " + words[ERRNO] + " took " + seconds(number(words, LONGEST)) + " s");
                case "hang" -> {
                    judge.look(read(words));
                    report.hang(read(words) + " takes more than 25 s");
                }
                default -> report.failure("the crowd said " + String.join(" ", words));
            }
        } catch (IOException | RuntimeException e) {
            report.failure("what the crowd said cannot be judged: " + String.join(" ", words) + ": " + e);
        }
    }

    private void did(String[] words) {
        double longest = seconds(number(words, 3));
        if (longest > judge.boundS()) {
            report.hang("one call of the crowd took " + longest + " s");
        }
        report.compared(number(words, 1), number(words, 2), longest);
        report.fault("pages given back", number(words, 4));
    }

    private StressJudge.Read read(String[] words) {
        StressNode node = byNumber.get((int) number(words, MOUNT));
        String path = source.paths().get((int) number(words, FILE));
        long start = number(words, START);
        FileContent listed = node.listedAt(start).get(path);
        return new StressJudge.Read(
                when, node, words[MODE], path, listed, number(words, OFFSET), (int) number(words, LENGTH), start);
    }

    private String wrong(String[] words) throws IOException {
        long at = number(words, WRONG_AT);
        if (at < 0) {
            return number(words, GOT) + " bytes came, and the size was said to be " + number(words, SIZE);
        }
        byte[] bytes = HexFormat.of().parseHex(words[WRONG_BYTES].substring(1));
        long word = bytes.length < Long.BYTES
                ? 1
                : ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
        return "wrong bytes at " + at + ": " + words[WRONG_BYTES] + ", which are of "
                + source.truth().origin(word) + "; the file had "
                + source.truth().ever(source.paths().get((int) number(words, FILE)));
    }

    private static long number(String[] words, int at) {
        return Long.parseLong(words[at]);
    }

    private static double seconds(long nanos) {
        return nanos / NANOS_PER_SECOND;
    }

    /** Reports silent processes as hanging. */
    void requireAlive() {
        for (StressCrowdProcess process : processes) {
            if (process.silentS() > PATIENCE_S) {
                report.hang("a process of the crowd has said nothing for " + process.silentS() + " s");
            }
        }
    }

    /** Waits for the end of all reads. A read that does not end is a hang. */
    void end() throws InterruptedException {
        for (StressCrowdProcess process : processes) {
            if (!process.end(PATIENCE_S)) {
                report.hang("a read of the crowd does not end");
            }
        }
    }

    @Override
    public void close() {
        processes.forEach(StressCrowdProcess::close);
    }
}
