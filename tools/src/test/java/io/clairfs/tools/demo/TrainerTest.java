package io.clairfs.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.tools.scratch.Scratch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A trainer whose Python is a shell script with the output that each test wants. */
class TrainerTest {
    private static final DemoSpec SPEC =
            new DemoSpec(64, 2, 80_000_000, Duration.ofMillis(10), Duration.ofMillis(5), 3, 125, 0, false, true, false);

    @TempDir
    Path directory;

    private Scratch scratch;

    @BeforeEach
    void makeScratch() throws IOException {
        scratch = Scratch.create(directory, false);
    }

    @AfterEach
    void closeScratch() throws IOException {
        scratch.close();
    }

    private Trainer trainer(String shell) throws IOException {
        Path executable = Files.writeString(directory.resolve("python3"), "#!/bin/sh\n" + shell + "\n");
        Files.setPosixFilePermissions(executable, PosixFilePermissions.fromString("rwx------"));
        return new Trainer(new Python(executable, true), scratch, List.of("clairfs"));
    }

    private static final class Heard implements Trainer.Listener {
        private final List<String> batches = new ArrayList<>();
        private final List<Trainer.Epoch> epochs = new ArrayList<>();

        @Override
        public void batch(int epoch, int batch) {
            batches.add(epoch + "/" + batch);
        }

        @Override
        public void epoch(Trainer.Epoch epoch) {
            epochs.add(epoch);
        }
    }

    @Test
    void theListenerHearsBatchesAndEpochsInOrder() throws IOException {
        Heard heard = new Heard();
        trainer("""
                echo '{"event": "batch", "epoch": 1, "batch": 1}'
                echo '{"event": "batch", "epoch": 1, "batch": 2}'
                echo '{"event": "epoch", "epoch": 1, "seconds": 4.5, "wait_seconds": 0.25, "samples": 64,' \\
                     '"bytes": 7000000, "checksum": 123456789012}'
                """).train(directory, SPEC, Trainer.Batches.LOADED, heard);
        assertThat(heard.batches).containsExactly("1/1", "1/2");
        assertThat(heard.epochs)
                .containsExactly(new Trainer.Epoch(1, 4.5, 0.25, new Content(64, 7_000_000, 123_456_789_012L)));
    }

    @Test
    void theScriptIsGivenItsArguments() throws IOException {
        trainer("echo \"$@\" > " + directory.resolve("said"))
                .train(Path.of("/data"), SPEC, Trainer.Batches.LOADED, new Heard());
        assertThat(Files.readString(directory.resolve("said")))
                .isEqualTo(scratch.directory().resolve("trainer.py")
                        + " /data --epochs=2 --batch=32 --workers=3 --seed=42 --compute-ms=5\n");
        assertThat(scratch.directory().resolve("trainer.py")).content().contains("DistributedSampler");
    }

    @Test
    void aTrainerThatFailsIsQuotedWithItsLastLine() throws IOException {
        Trainer trainer = trainer("echo Traceback >&2; echo 'RuntimeError: no such thing' >&2; exit 3");
        assertThatThrownBy(() -> trainer.train(directory, SPEC, Trainer.Batches.LOADED, new Heard()))
                .isInstanceOf(DemoException.class)
                .hasMessage("the trainer failed: RuntimeError: no such thing");
    }

    @Test
    void whatIsNotUnderstoodIsAnErrorAndEndsTheTrainer() throws IOException {
        for (String line : List.of("hello", "{\"event\": \"batch\"}", "{\"event\": \"lunch\", \"epoch\": 1}")) {
            Trainer trainer = trainer("echo $$ > " + directory.resolve("pid") + "; echo '" + line + "'; exec sleep 60");
            assertThatThrownBy(() -> trainer.train(directory, SPEC, Trainer.Batches.LOADED, new Heard()))
                    .isInstanceOf(DemoException.class)
                    .hasMessage("the trainer said what is not understood: " + line);
            long pid = Long.parseLong(Files.readString(directory.resolve("pid")).strip());
            ProcessHandle.of(pid)
                    .ifPresent(process -> assertThat(process.onExit()).succeedsWithin(60, TimeUnit.SECONDS));
        }
    }
}
