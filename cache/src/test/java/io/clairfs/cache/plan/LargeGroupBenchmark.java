package io.clairfs.cache.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * {@link PlanBenchmark} for 256 nodes and 14,197,122 samples: each node makes the plan of all, and keeps its own part. {@code .ci/long-run scale}
 * runs it. A plan of 90 epochs ends where a daemon's does, at the limits of its plans.
 *
 * <p>Only a plan that does not fit into its heap makes it fail.
 */
@Timeout(3600)
final class LargeGroupBenchmark {
    private static final int HEAP_MIB = 866;
    private static final String SIZES = "14197122 90 256 ";
    private static final Pattern AFTER_COLLECTION = Pattern.compile("->(\\d+)M\\(");

    @ParameterizedTest
    @ValueSource(strings = {"2.0", "1.0", "0.5"})
    void plan_fitsIntoItsHeap(String capacity) throws RunnerException, IOException {
        Path collections = Files.createTempFile("plan-", ".log");
        try {
            Collection<RunResult> results = new Runner(new OptionsBuilder()
                            .include(PlanBenchmark.class.getSimpleName())
                            .jvmArgs(
                                    "-Xmx" + HEAP_MIB + "m",
                                    "-Xlog:gc:file=" + collections,
                                    "--enable-native-access=ALL-UNNAMED")
                            .param("plan", SIZES + capacity + " 1")
                            .measurementIterations(1)
                            .shouldFailOnError(true)
                            .build())
                    .run();
            assertThat(results).hasSize(1);
            int most = AFTER_COLLECTION
                    .matcher(Files.readString(collections))
                    .results()
                    .mapToInt(match -> Integer.parseInt(match.group(1)))
                    .max()
                    .orElse(0);
            System.out.printf(
                    "256 nodes, 14,197,122 samples, caches for %s S: planned in %.1f s, %d MiB of heap in use after the fullest collection%n",
                    capacity, results.iterator().next().getPrimaryResult().getScore() / 1e3, most);
        } finally {
            Files.delete(collections);
        }
    }
}
