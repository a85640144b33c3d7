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

    /** The jobs that were written. One with a generator's state in a file that does not answer is left out, with a warning. */
    static List<UnfinishedJob> read(RestartDirectory directory, Consumer<String> warnings) throws IOException {
        return parse(directory.text(FILE), warnings);
    }

    static List<UnfinishedJob> parse(String text, Consumer<String> warnings) throws IOException {
        List<UnfinishedJob> all = new ArrayList<>();
        for (String line : text.split("\n", -1)) {
            String[] parts = line.split(" ", COLUMNS);
            if (parts.length == COLUMNS) {
                try {
                    all.add(job(parts));
                } catch (OrderNotReadyException e) {
                    warnings.accept("a job of the process before this one is lost: " + e.getMessage());
                }
            } else if (!line.isEmpty()) {
                throw new IOException("not a saved job: " + line);
            }
        }
        return all;
    }

    private static UnfinishedJob job(String[] parts) throws IOException, OrderNotReadyException {
        try {
            long[] positions = parts[2].equals(NO_POSITIONS)
                    ? new long[0]
                    : Arrays.stream(parts[2].split(",", -1))
                            .mapToLong(Long::parseLong)
                            .toArray();
            return new UnfinishedJob(JobSpec.parse(parts[3], Ranks.parse(parts[1])), positions, parts[0].equals(FOUND));
        } catch (OrderNotReadyException e) {
            throw e;
        } catch (InvalidSpecException | NumberFormatException e) {
            throw new IOException("not a saved job: " + String.join(" ", parts) + " (" + e.getMessage() + ")", e);
        }
    }
}
