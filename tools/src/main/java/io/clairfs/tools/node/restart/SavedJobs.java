package io.clairfs.tools.node.restart;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.tools.node.job.UnfinishedJob;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * The jobs of a mount and where their trainers are, in a file: a line for each, with who wrote it ({@code user} or {@code found}), the ranks that read
 * here, their positions, and the job line.
 */
final class SavedJobs {
    private static final String FILE = "jobs";
    private static final String USER = "user";
    private static final String FOUND = "found";
    private static final String NO_POSITIONS = "-";
    private static final int COLUMNS = 4;

    /** How often a file that does not answer is asked again in all, and when: nobody reads control files meanwhile. */
    private static final int ASKED_AGAIN = 2;

    private static final long PAUSE_MS = 5_000;

    private SavedJobs() {}

    static String text(List<UnfinishedJob> jobs) {
        return jobs.stream().map(SavedJobs::line).collect(Collectors.joining());
    }

    private static String line(UnfinishedJob job) {
        String positions =
                LongStream.of(job.positions()).mapToObj(Long::toString).collect(Collectors.joining(","));
        return String.join(
                        " ",
                        job.isFound() ? FOUND : USER,
                        job.spec().ranks().text(),
                        positions.isEmpty() ? NO_POSITIONS : positions,
                        job.spec().line())
                + "\n";
    }

    static void write(RestartDirectory directory, String text) throws IOException {
        directory.replace(FILE, text);
    }

    /** The jobs that were written. One that is no job any more, as without the file of its generator's state, is left out with a warning. */
    static List<UnfinishedJob> read(RestartDirectory directory, Consumer<String> warnings) throws IOException {
        return parse(directory.text(FILE), JobSpec::parse, SavedJobs::pause, warnings);
    }

    /** Makes a job of its line, and of its ranks where the line has none. */
    @FunctionalInterface
    interface Parser {
        /**
         * The job of a line.
         *
         * @throws OrderNotReadyException when a file that the line names does not answer
         */
        JobSpec parse(String line, Ranks ranks) throws InvalidSpecException;
    }

    /**
     * The jobs of a text.
     *
     * @param pause passes the time before a file that does not answer is asked again
     * @throws IOException also for lines that were not written here
     */
    static List<UnfinishedJob> parse(String text, Parser parser, Runnable pause, Consumer<String> warnings)
            throws IOException {
        Patient patient = new Patient(parser, pause);
        List<UnfinishedJob> all = new ArrayList<>();
        for (String line : text.split("\n", -1)) {
            if (!line.isEmpty()) {
                Saved saved = Saved.of(line);
                try {
                    all.add(patient.job(saved));
                } catch (InvalidSpecException e) {
                    warnings.accept("a job of the process before this one is lost: " + e.getMessage()
                            + "; write it again: " + saved.line);
                }
            }
        }
        return all;
    }

    /** Makes the jobs of one text. */
    private static final class Patient {
        private final Parser parser;
        private final Runnable pause;
        private int left = ASKED_AGAIN;

        Patient(Parser parser, Runnable pause) {
            this.parser = parser;
            this.pause = pause;
        }

        UnfinishedJob job(Saved saved) throws InvalidSpecException {
            while (true) {
                try {
                    return new UnfinishedJob(parser.parse(saved.line, saved.ranks), saved.positions, saved.isFound);
                } catch (OrderNotReadyException e) {
                    if (left == 0) {
                        throw e;
                    }
                    left--;
                    pause.run();
                }
            }
        }
    }

    private static void pause() {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE_MS));
    }

    /** The columns of a line. */
    private record Saved(boolean isFound, Ranks ranks, long[] positions, String line) {
        static Saved of(String line) throws IOException {
            String[] parts = line.split(" ", COLUMNS);
            if (parts.length < COLUMNS) {
                throw new IOException("not a saved job: " + line);
            }
            try {
                long[] positions = parts[2].equals(NO_POSITIONS)
                        ? new long[0]
                        : Arrays.stream(parts[2].split(",", -1))
                                .mapToLong(Long::parseLong)
                                .toArray();
                return new Saved(parts[0].equals(FOUND), Ranks.parse(parts[1]), positions, parts[3]);
            } catch (InvalidSpecException | NumberFormatException e) {
                throw new IOException("not a saved job: " + line + " (" + e.getMessage() + ")", e);
            }
        }
    }
}
