package io.clairfs.cache.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** Each case on a thread of its own, for a thread stays where it is kept. */
final class ProcessorAffinityTest {
    private static final Executor OWN_THREAD = task -> Thread.ofPlatform().start(task);
    private static final int FAR_BEYOND = 100_000;

    private static String allowed() {
        try (var lines = Files.lines(Path.of("/proc/thread-self/status"))) {
            return lines.filter(line -> line.startsWith("Cpus_allowed_list:"))
                    .map(line -> line.substring("Cpus_allowed_list:".length()).strip())
                    .findFirst()
                    .orElseThrow();
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
    }

    private static BitSet of(int processor) {
        BitSet one = new BitSet();
        one.set(processor);
        return one;
    }

    @Test
    void keepOn_oneProcessor_leavesThatAlone() {
        int first = Integer.parseInt(allowed().split("[-,]", 2)[0]);
        CompletableFuture.runAsync(
                        () -> {
                            try {
                                ProcessorAffinity.keepOn(of(first));
                            } catch (PosixException e) {
                                throw new AssertionError(e);
                            }
                            assertThat(allowed()).isEqualTo(Integer.toString(first));
                        },
                        OWN_THREAD)
                .join();
        assertThat(allowed()).as("of this thread").startsWith(Integer.toString(first));
    }

    @Test
    void keepOn_processorsThatAreNotThere_isRefused() {
        CompletableFuture.runAsync(
                        () -> {
                            String before = allowed();
                            assertThatThrownBy(() -> ProcessorAffinity.keepOn(of(FAR_BEYOND)))
                                    .isInstanceOf(PosixException.class);
                            assertThat(allowed()).isEqualTo(before);
                        },
                        OWN_THREAD)
                .join();
    }
}
