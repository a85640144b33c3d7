package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A group that cannot be joined when a node is mounted. */
@Timeout(600)
final class GroupLateJoinTest {
    private static final int SAMPLES = 20;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    @Test
    void nodeWhosePortIsTaken_servesFromTheSource_andJoinsWhenThePortIsFree() throws Exception {
        Path dataset = NodeGroup.makeSamples(FIXTURE, SAMPLES, 2_000);
        int port = TestPorts.free(2);
        LiveMount mount;
        try (ServerSocket taken = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            mount = FIXTURE.mount(
                    dataset,
                    "--memory",
                    "1MiB",
                    "--staging",
                    "1MiB",
                    "--bind",
                    "127.0.0.1:" + port,
                    "--members",
                    "127.0.0.1:" + port);
            mount.await(
                    "told why it is alone",
                    s -> !s.at("/group/joined").asBoolean()
                            && s.at("/group/trouble").isString());
            assertThat(taken.isBound()).isTrue();
            assertThat(mount.read("errors")).contains("did not join the group, samples come from the source: ");
            assertThat(Files.readAllBytes(mount.point().resolve("s1")))
                    .isEqualTo(Files.readAllBytes(dataset.resolve("s1")));
        }
        mount.await(
                "in its group",
                s -> s.at("/group/joined").asBoolean() && s.at("/group/trouble").isNull(),
                120);
    }
}
