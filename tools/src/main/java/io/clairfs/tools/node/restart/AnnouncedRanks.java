package io.clairfs.tools.node.restart;

import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.InvalidSpecException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The ranks that read here of jobs that are still to come, in a file: a line for each job, with its name and the ranks. A process of a program
 * that does not know the file goes on without them.
 */
public final class AnnouncedRanks {
    private static final String FILE = "ranks";
    private static final int COLUMNS = 2;

    private AnnouncedRanks() {}

    static void write(RestartDirectory directory, Map<String, Ranks> announced) throws IOException {
        directory.replace(
                FILE,
                announced.entrySet().stream()
                        .map(job -> job.getKey() + " " + job.getValue().text() + "\n")
                        .collect(Collectors.joining()));
    }

    /** The ranks by job; empty where none were written. A file that cannot be read is a warning: the jobs are worth more. */
    public static Map<String, Ranks> read(RestartDirectory directory, Consumer<String> warnings) {
        try {
            return read(directory);
        } catch (IOException e) {
            warnings.accept(
                    "the ranks that read here of jobs still to come are lost, write them again: " + e.getMessage());
            return Map.of();
        }
    }

    private static Map<String, Ranks> read(RestartDirectory directory) throws IOException {
        Map<String, Ranks> announced = new HashMap<>();
        for (String line : directory.text(FILE).lines().toList()) {
            String[] parts = line.split(" ", COLUMNS);
            if (parts.length < COLUMNS) {
                throw new IOException("no announced ranks: " + line);
            }
            try {
                announced.put(parts[0], Ranks.parse(parts[1]));
            } catch (InvalidSpecException e) {
                throw new IOException("no announced ranks: " + line + " (" + e.getMessage() + ")", e);
            }
        }
        return announced;
    }
}
