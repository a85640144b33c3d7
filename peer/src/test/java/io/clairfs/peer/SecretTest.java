package io.clairfs.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a secret says and does not say. */
final class SecretTest {
    @Test
    void read_fileWithALineEnd_isTheSameSecret(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("secret"), "0123456789abcdef\n");
        Secret same = Secret.of("0123456789abcdef".getBytes(StandardCharsets.US_ASCII));
        assertThat(Secret.read(file).mac("x")).isEqualTo(same.mac("x"));
        assertThat(same.mac("x")).isNotEqualTo(same.mac("y")).isNotEqualTo(Secret.openMac("x"));
        assertThat(same.mac("x", new byte[] {1}, new byte[] {2}))
                .isNotEqualTo(same.mac("x", new byte[] {1, 2}, new byte[0]));
        assertThat(same.toString()).doesNotContain("0123");
    }

    @Test
    void read_tooShortTooLongOrMissing_says(@TempDir Path directory) throws IOException {
        Path shorter = Files.writeString(directory.resolve("short"), "0123456789\n");
        assertThatThrownBy(() -> Secret.read(shorter))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("16 to 4096");
        Path longer = Files.write(directory.resolve("long"), new byte[1 << 20]);
        assertThatThrownBy(() -> Secret.read(longer)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> Secret.read(directory.resolve("none"))).isInstanceOf(IOException.class);
    }

    @Test
    void fingerprint_bytesThereAndBack() {
        byte[] bytes = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
        assertThat(Fingerprint.of(bytes).bytes()).isEqualTo(bytes);
        assertThat(Fingerprint.of(bytes)).hasToString("30313233343536373839616263646566");
    }
}
