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

    /** No name of a member is known, so neither is the address on which this node would be reached. */
    @Test
    void nodeThatKnowsNoOther_isMounted_servesFromTheSource_andSaysWhatItWaitsFor() throws Exception {
        Path dataset = NodeGroup.makeSamples(FIXTURE, SAMPLES, 2_000);
        Path secret = FIXTURE.newDirectory("secret").resolve("secret");
        Files.writeString(secret, "only the nodes of this test know it");
        LiveMount mount = FIXTURE.mount(
                dataset,
                "--memory",
                "1MiB",
                "--staging",
                "1MiB",
                "--bind",
                "auto:" + TestPorts.free(2),
                "--members",
                "nowhere.invalid",
                "--secret-file",
                secret.toString());
        mount.await(
                "told why it is alone",
                s -> !s.at("/group/joined").asBoolean()
                        && s.at("/group/trouble")
                                .asString("")
                                .contains("no way is known to any of the other members (nowhere.invalid)"));
        assertThat(Files.readAllBytes(mount.point().resolve("s1")))
                .isEqualTo(Files.readAllBytes(dataset.resolve("s1")));
    }

    @Test
    void nodeWhosePortIsTaken_servesFromTheSource_andJoinsWhenThePortIsFree() throws Exception {
        Path dataset = NodeGroup.makeSamples(FIXTURE, SAMPLES, 2_000);
        int port = TestPorts.free(2);
        String[] options = {
            "--memory", "1MiB", "--staging", "1MiB", "--bind", "127.0.0.1:" + port, "--members", "127.0.0.1:" + port
        };
        LiveMount late;
        try (ServerSocket taken = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            LiveMount mount = FIXTURE.mount(dataset, options);
            late = mount;
            mount.await(
                    "told why it is alone",
                    s -> !s.at("/group/joined").asBoolean()
                            && s.at("/group/trouble").isString());
            assertThat(taken.isBound()).isTrue();
            Waiting.until(
                    "its errors say so",
                    () -> mount.read("errors").contains("did not join the group, samples come from the source: "));
            assertThat(Files.readAllBytes(mount.point().resolve("s1")))
                    .isEqualTo(Files.readAllBytes(dataset.resolve("s1")));
        }
        late.await(
                "in its group",
                s -> s.at("/group/joined").asBoolean() && s.at("/group/trouble").isNull(),
                120);
    }
}
