package io.clairfs.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.tools.config.MountFile;
import io.clairfs.tools.node.config.GroupConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
    void nameThatTheOthersWouldIgnore_isRefused() throws IOException {
        assertThat(config("--bind", "127.0.0.1", "--node-name", "n".repeat(64))).isNotNull();
        assertThatThrownBy(() -> config("--bind", "127.0.0.1", "--node-name", "n".repeat(65)))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("must have 1 to 64 characters; give another one with --node-name");
    }

    @Test
    void anyAddressOfTheMachine_isRefused() {
        assertThatThrownBy(() -> config("--bind", "[::]"))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("one address of this machine");
    }

    @ParameterizedTest
    @CsvSource({"auto, 5701", "auto:7001, 7001"})
    void addressThatIsLeftToTheProgram_isThatTowardsTheOthers(String bind, int port) throws IOException {
        GroupConfig config = config("--bind", bind, "--members", "127.0.0.1");

        assertThat(config).isNotNull();
        assertThat(config.bind().getPort()).isEqualTo(port);
        assertThat(config.bind().getAddress().isLoopbackAddress()).isTrue();
        assertThat(config.nodeName()).isEqualTo("127.0.0.1:" + port);
    }

    @Test
    void addressThatIsLeftToTheProgram_whileNoNameIsKnown_isToCome(@TempDir Path directory) throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "a secret of the group");
        GroupConfig config =
                config("--bind", "auto", "--members", "nowhere.invalid", "--secret-file", secret.toString());

        assertThat(config).isNotNull();
        assertThat(config.bind()).isEqualTo(GroupConfig.addressToCome(5701));
        assertThat(config.nodeName()).isEqualTo("auto:5701");
        assertThatThrownBy(() -> config("--bind", "auto", "--members", "nowhere.invalid"))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("beyond loopback a group needs --secret-file");
    }

    @Test
    void rails_areServedOnThePortBehindThatOfTheGroup() throws IOException {
        GroupConfig config = config("--bind", "127.0.0.1:7001", "--rail", "127.0.0.2,127.0.0.3", "--rail", "[::1]");

        assertThat(config).isNotNull();
        assertThat(config.transferAddresses().stream().map(InetSocketAddress::toString))
                .containsExactly("/127.0.0.2:7002", "/127.0.0.3:7002", "/[0:0:0:0:0:0:0:1]:7002");
        GroupConfig plain = config("--bind", "127.0.0.1:7001");
        assertThat(plain).isNotNull();
        assertThat(plain.rails()).isEmpty();
        assertThat(plain.transferAddresses())
                .containsExactly(new InetSocketAddress(plain.bind().getAddress(), 7002));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "host | must be an address of this machine",
                "auto,127.0.0.1 | auto stands alone",
                "192.0.2.7 | is no address of this machine: 'ip address' shows those it has",
                "999.1.1.1 | must be an address of this machine",
                "127.0.0.1,127.0.0.1 | is there twice",
                "0.0.0.0 | is no address of this machine"
            })
    void railThatIsNone_isRefused(String rail, String why) {
        assertThatThrownBy(() -> config("--bind", "127.0.0.1", "--rail", rail))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining(why);
    }

    @Test
    void railWithoutAGroup_isRefused() {
        assertThatThrownBy(() -> config("--rail", "127.0.0.1"))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("a group of nodes needs --bind");
    }

    @Test
    void withoutAnything_theMountIsOnItsOwn() throws IOException {
        assertThat(config()).isNull();
    }
}
