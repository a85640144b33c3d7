package io.clairfs.tools.mount;

import io.clairfs.fs.faulty.FileContent;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Asks the readers of a random test, and judges their answers. */
final class StressReads implements AutoCloseable {
    private static final String[] WAYS = {"pread", "mmap", "direct", "seek", "whole"};

    /** The number of ways that suit a file too big to be read whole. */
    private static final int WAYS_FOR_BIG = 3;

    private static final int READER_THREADS = 6;
    private static final int MOST_PENDING = 40;
    private static final int MOST_AT_ONCE = 8;
    private static final long PATIENCE_S = 90;

    private final StressReport report;
    private final StressSource source;
    private final StressJudge judge;
    private final StressReader reader;

    StressReads(MountFixture fixture, StressReport report, StressSource source, StressJudge judge) throws IOException {
        this.report = report;
        this.source = source;
        this.judge = judge;
        reader = StressReader.start(fixture, READER_THREADS);
    }

    /** Does some reads of any files, in any ways, at any offsets. */
    void any(String when, StressNode node, Random random) throws Exception {
        for (int i = 1 + random.nextInt(MOST_AT_ONCE); i > 0; i--) {
            String path = source.paths().get(random.nextInt(source.paths().size()));
            String how = WAYS[random.nextInt(StressSource.isBig(path) ? WAYS_FOR_BIG : WAYS.length)];
            long size = node.listed().get(path).size();
            long offset = random.nextLong(size + 10);
            read(when, node, how, path, offset, 1 + random.nextInt(200_000));
        }
    }

    /** Reads a file as a trainer does. */
    void whole(String when, StressNode node, String path) throws Exception {
        read(when, node, StressSource.isBig(path) ? "pread" : "whole", path, 0, 100_000);
    }

    /** Reads {@code length} bytes at {@code offset} in one of the ways of {@code stress_reader.py}, and judges the answer. */
    void read(String when, StressNode node, String how, String path, long offset, int length) throws Exception {
        read(when, node, how, path, offset, length, () -> {});
    }

    private void read(String when, StressNode node, String how, String path, long offset, int length, Runnable ifRight)
            throws Exception {
        awaitRoom(MOST_PENDING);
        FileContent listed = node.listed().get(path);
        StressJudge.Read read = new StressJudge.Read(when, node, how, path, listed, offset, length, System.nanoTime());
        ObjectNode question = StressReader.question(how, node.point().resolve(path))
                .put("offset", offset)
                .put("length", length);
        reader.ask(question, answer -> {
            if (judge.judge(read, answer)) {
                ifRight.run();
            }
        });
    }

    /** Lists a directory, which must have all its names, whatever fails at the source. */
    void list(String when, StressNode node, String directory) throws Exception {
        awaitRoom(MOST_PENDING);
        long start = System.nanoTime();
        TreeSet<String> expected = new TreeSet<>();
        for (String path : source.paths()) {
            if (path.startsWith(directory + "/")) {
                expected.add(path.substring(directory.length() + 1));
            }
        }
        reader.ask(StressReader.question("readdir", node.point().resolve(directory)), answer -> {
            List<String> names =
                    answer.path("names").valueStream().map(JsonNode::asString).toList();
            boolean right = answer.path("errno").asInt() == 0 && names.equals(List.copyOf(expected));
            if (!right && !node.disturbed(start, System.nanoTime())) {
                report.failure("WRONG LISTING: " + when + ": " + directory + ": " + answer);
            }
        });
    }

    /**
     * Asks for a directory that cannot be listed, or for a file in it. The answers must be errors that the faults allow. Waits for the
     * answers.
     */
    void requireErrors(String when, StressNode node, String directory, List<String> ways) throws Exception {
        String inside = source.paths().stream()
                .filter(p -> p.startsWith(directory + "/"))
                .findFirst()
                .orElseThrow();
        CountDownLatch answered = new CountDownLatch(ways.size());
        for (String how : ways) {
            String path = how.equals("readdir") ? directory : inside;
            ObjectNode question = StressReader.question(how, node.point().resolve(path));
            long start = System.nanoTime();
            reader.ask(question.put("offset", 0).put("length", 10), answer -> {
                answered.countDown();
                if (!source.faults()
                        .allowed(path, start, System.nanoTime())
                        .contains(answer.path("errno").asInt())) {
                    report.failure("ABSENCE: " + when + ": " + path + ": " + answer);
                }
            });
        }
        if (!answered.await(PATIENCE_S, TimeUnit.SECONDS)) {
            report.hang(when + ": no answer within " + PATIENCE_S + " s to " + reader.pendingQuestions());
        }
    }

    /** Asks something that is not judged. */
    void other(String how, StressNode node, String path, String second, int times) throws Exception {
        awaitRoom(MOST_PENDING);
        reader.ask(
                StressReader.question(how, node.point().resolve(path))
                        .put("other", node.point().resolve(second).toString())
                        .put("length", times),
                _ -> {});
    }

    /** Waits until a few questions can be asked without waiting, before a daemon is suspended. */
    void awaitRoomForMore() throws Exception {
        awaitRoom(MOST_PENDING - MOST_AT_ONCE);
    }

    /** Waits until at most {@code most} questions are open. A wait longer than any read may take is a hang. */
    void awaitRoom(int most) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
        while (reader.pending() > most) {
            if (System.nanoTime() > deadline) {
                report.hang("no answer within " + PATIENCE_S + " s to " + reader.pendingQuestions());
                throw new AssertionError(report.failures());
            }
            TimeUnit.MILLISECONDS.sleep(2);
        }
    }

    /** Requires that every unchanged file is readable soon, after all faults have ended. */
    void requireAllReadable(String when, StressNode node) throws Exception {
        Set<String> waiting = new ConcurrentSkipListSet<>();
        for (String path : source.paths()) {
            if (source.truth().now(path).equals(node.listed().get(path))) {
                waiting.add(path);
            }
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
        while (!waiting.isEmpty()) {
            for (String path : List.copyOf(waiting)) {
                boolean big = StressSource.isBig(path);
                String how = big ? "pread" : "whole";
                read(when, node, how, path, big ? 1_000_001 : 0, 100_000, () -> waiting.remove(path));
            }
            awaitRoom(0);
            if (!waiting.isEmpty() && System.nanoTime() > deadline) {
                report.failure("STUCK: " + when + ": not readable though nothing is wrong any more: " + waiting);
                return;
            }
        }
    }

    @Override
    public void close() {
        reader.close();
    }
}
