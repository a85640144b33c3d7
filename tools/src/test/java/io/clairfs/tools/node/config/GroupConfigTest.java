package io.clairfs.tools.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.peer.directory.Discovery;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The address of a node that is left to the program. */
final class GroupConfigTest {
    private static GroupConfig config(String name, InetSocketAddress bind, String... members) {
        return new GroupConfig(name, bind, new Discovery.Members(List.of(members)), null, List.of(), null);
    }

    @Test
    void addressToCome_isChosenByTheWayToTheOthers_andIsTheNameOfANodeWithoutOne() throws IOException {
        InetSocketAddress toCome = GroupConfig.addressToCome(7001);
        GroupConfig unnamed =
                config(GroupConfig.nameAt(toCome), toCome, "127.0.0.1").atAnAddress();
        assertThat(unnamed.bind()).isEqualTo(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7001));
        assertThat(unnamed.nodeName()).isEqualTo("127.0.0.1:7001");
        assertThat(config("a", toCome, "127.0.0.1").atAnAddress().nodeName()).isEqualTo("a");
        assertThat(unnamed.atAnAddress()).isSameAs(unnamed);
    }

    @Test
    void addressToCome_whileNoMemberIsKnown_saysWhatIsMissing() {
        InetSocketAddress toCome = GroupConfig.addressToCome(7001);
        assertThatThrownBy(() -> config("a", toCome, "nowhere.invalid", "neither.invalid")
                        .atAnAddress())
                .isInstanceOf(IOException.class)
                .hasMessage(
                        "--bind auto: no way is known to any of the other members (nowhere.invalid, neither.invalid):"
                                + " look whether a name server knows them, or give --bind ADDRESS");
    }
}
