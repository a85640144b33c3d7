package io.clairfs.cache.order.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.FileLooks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A generator's state in a file that does not answer: who looks does nothing until the test says so, and nobody waits for it. */
final class TorchStateFileTest {
    private final List<Runnable> aside = new ArrayList<>();
    private final FileLooks silent = new FileLooks(aside::add, _ -> 0);

    // Promise J22
    @Test
    void stateFileThatDoesNotAnswer_isOneLine_andIsReadWhenItDoes(@TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("rng"), new byte[TorchGenerator.STATE_BYTES]);
        assertThatThrownBy(() -> TorchStateFile.read(file.toString(), silent))
                .isInstanceOfSatisfying(
                        OrderNotReadyException.class,
                        e -> assertThat(e.isUnanswered()).isTrue())
                .hasMessageStartingWith("state file ")
                .hasMessageEndingWith(" does not answer: look at its file system");
        assertThatThrownBy(() -> TorchStateFile.read(file.toString(), silent))
                .isInstanceOf(OrderNotReadyException.class);
        assertThat(aside).hasSize(1);

        FileLooks quick = new FileLooks(Runnable::run, _ -> 0);
        assertThatThrownBy(() -> TorchStateFile.read(file.toString(), quick))
                .isExactlyInstanceOf(InvalidSpecException.class)
                .hasMessageContaining("are no state of a torch CPU generator");
    }

    @Test
    void stateInBase64_isReadFromNoFile() {
        String zeros = Base64.getEncoder().encodeToString(new byte[TorchGenerator.STATE_BYTES]);
        assertThatThrownBy(() -> TorchStateFile.read(zeros, silent))
                .hasMessageContaining("are no state of a torch CPU generator");
        assertThat(aside).isEmpty();
    }
}
