package io.clairfs.tools.bench.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The trainer of the benchmarks. */
@Timeout(180)
final class TrainerLoopTest {
    private static final int BYTES = 1_000;

    /** Ten such steps are more than a hundredth of the time in which a machine stands still. */
    private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(100);

    @TempDir
    private Path directory;

    private List<String> files(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            Files.write(directory.resolve("f" + i), new byte[BYTES]);
        }
        return IntStream.range(0, count).mapToObj(i -> "f" + i).toList();
    }

    @Test
    void utilisation_isThePartThatIsComputation() throws Exception {
        TrainerLoop loop = new TrainerLoop(2, 3, STEP_NS);
        assertThat(loop.utilisation(directory, files(20), BYTES))
                .isGreaterThan(1)
                .isLessThan(100);
    }

    @Test
    void everyWholeBatchIsRead_andAFileThatIsMissingEndsTheEpoch() throws Exception {
        TrainerLoop loop = new TrainerLoop(2, 2, 1);
        List<String> files = files(9);
        Files.delete(directory.resolve("f8"));
        assertThat(loop.utilisation(directory, files, BYTES))
                .as("f8 is no batch")
                .isPositive();
        Files.delete(directory.resolve("f7"));
        assertThatThrownBy(() -> loop.utilisation(directory, files, BYTES)).hasMessage("a worker failed");
    }
}
