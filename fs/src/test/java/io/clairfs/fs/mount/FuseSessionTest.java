package io.clairfs.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.faulty.FaultyMount;
import io.clairfs.fs.testing.NeedsFuse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NeedsFuse
final class FuseSessionTest {
    private static final int ROUNDS = 40;

    @TempDir
    Path directory;

    /** The new session's descriptor may have the number of the one that is just closed. */
    @Test
    void sessionThatStartsWhileAnotherEnds_isFound_andWorks() throws Exception {
        Path dataset = Files.createDirectory(directory.resolve("dataset"));
        Files.writeString(dataset.resolve("file"), "content");
        FaultyMount last = FaultyMount.mount(dataset, Files.createDirectory(directory.resolve("-1")), FaultyMount.FAST);
        try {
            for (int i = 0; i < ROUNDS; i++) {
                Path point = Files.createDirectory(directory.resolve(Integer.toString(i)));
                FaultyMount ending = last;
                CyclicBarrier together = new CyclicBarrier(2);
                CompletableFuture<Void> ended = CompletableFuture.runAsync(() -> {
                    meet(together);
                    ending.close();
                });
                meet(together);
                last = FaultyMount.mount(dataset, point, FaultyMount.FAST);
                ended.join();
                assertThat(point.resolve("file")).hasContent("content");
            }
        } finally {
            last.close();
        }
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
