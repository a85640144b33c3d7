package io.clairfs.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.tools.config.MountFile;
import io.clairfs.tools.node.config.GroupConfig;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

final class GroupOptionsTest {
    @Command
    private static final class Mounting {
        @Mixin
        private final GroupOptions group = new GroupOptions();
    }

    private static @Nullable GroupConfig config(String... options) throws IOException {
        Mounting mounting = new Mounting();
        var _ = new CommandLine(mounting).parseArgs(options);
        return mounting.group.config(MountFile.EMPTY);
    }

    @ParameterizedTest
    @CsvSource({
        "[::1], 5701, [::1]:5701",
        "[::1]:7001, 7001, [::1]:7001",
        "127.0.0.1, 5701, 127.0.0.1:5701",
        "127.0.0.1:7001, 7001, 127.0.0.1:7001",
        "localhost, 5701, localhost:5701"
    })
    void addressWithOrWithoutAPort_isWhereTheNodeIs_andItsName(String bind, int port, String name) throws IOException {
        GroupConfig config = config("--bind", bind);

        assertThat(config).isNotNull();
        assertThat(config.bind().getPort()).isEqualTo(port);
        assertThat(config.bind().getAddress().isLoopbackAddress()).isTrue();
        assertThat(config.nodeName()).isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"::1", "[::1", "::1]:7001", "[::1]7001", "host:port", ""})
    void addressThatIsNone_isRefused_andTheLineSaysHowToWriteIt(String bind) {
        assertThatThrownBy(() -> config("--bind", bind))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("must be ADDRESS or ADDRESS:PORT; an IPv6 address stands in brackets");
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:0", "[::1]:65535", "127.0.0.1:99999"})
    void portWithoutANextOne_isRefused(String bind) {
        assertThatThrownBy(() -> config("--bind", bind))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("a port from 1 to 65534");
    }

    @Test
    void anyAddressOfTheMachine_isRefused() {
        assertThatThrownBy(() -> config("--bind", "[::]"))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("one address of this machine");
    }

    @Test
    void withoutAnything_theMountIsOnItsOwn() throws IOException {
        assertThat(config()).isNull();
    }
}
