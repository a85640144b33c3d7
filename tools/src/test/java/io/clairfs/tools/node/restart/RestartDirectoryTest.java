package io.clairfs.tools.node.restart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A directory that several processes may write to at once. */
@Timeout(120)
final class RestartDirectoryTest {
    private static final int TIMES = 500;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path parent;

    @Test
    void file_that_several_replace_at_once_is_always_one_of_theirs_whole() throws Exception {
        RestartDirectory directory = new RestartDirectory(Files.createDirectory(parent.resolve("a.restart")));
        try (ExecutorService writers = Executors.newFixedThreadPool(2)) {
            List<Future<?>> ends = new ArrayList<>();
            for (String text : List.of("one", "another")) {
                Callable<Void> writes = () -> {
                    for (int i = 0; i < TIMES; i++) {
                        directory.replace("program", text);
                        assertThat(directory.text("program")).isIn("one", "another");
                    }
                    return null;
                };
                ends.add(writers.submit(writes));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        }
        try (var files = Files.list(directory.path())) {
            assertThat(files).containsExactly(directory.path().resolve("program"));
        }
    }

    @Test
    void directory_in_which_another_process_has_files_stays() throws IOException {
        RestartDirectory directory = new RestartDirectory(Files.createDirectory(parent.resolve("a.restart")));
        directory.replace("program", "text");
        directory.removeIfEmpty();
        assertThat(directory.text("program")).isEqualTo("text");
        directory.clear();
        directory.removeIfEmpty();
        assertThat(directory.path()).doesNotExist();
        directory.removeIfEmpty();
    }
}
