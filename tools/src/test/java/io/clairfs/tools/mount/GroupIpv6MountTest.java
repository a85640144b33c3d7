package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two nodes on IPv6's loopback address. */
@Timeout(600)
final class GroupIpv6MountTest {
    private static final int SAMPLES = 40;
    private static final int SAMPLE_BYTES = 20_000;
    private static final SlowSourceSpec SLOWER_THAN_PEERS = new SlowSourceSpec(100_000_000, Duration.ofMillis(100));

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private int port;

    @Test
    void nodesThatAreBoundToIpv6_serveEachOther() throws Exception {
        String missing = missing();
        if (missing != null) {
            System.out.println("skipped: " + missing);
        }
        assumeTrue(missing == null, missing);
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        port = TestPorts.free(4);
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), SLOWER_THAN_PEERS)) {
            LiveMount a = mount(source.point(), 0);
            LiveMount b = mount(source.point(), 1);
            a.job("seed=1 epochs=2 world=1 ranks=0");
            a.await(
                    "holding all samples, each of which has its home there",
                    s -> s.at("/tiers/0/samples").asInt() == SAMPLES);
            b.await(
                    "told of what the first holds, which answers",
                    s -> s.at("/peers/0/samples").asInt() == SAMPLES
                            && s.at("/peers/0/alive").asBoolean()
                            && s.at("/peers/0/name").asString().equals("[::1]:" + port));
            for (int i = 0; i < SAMPLES; i++) {
                assertThat(b.point().resolve("s" + i)).hasSameBinaryContentAs(dataset.resolve("s" + i));
            }
            assertThat(b.status().at("/fetched/peer/count").asInt()).isPositive();
        }
    }

    private LiveMount mount(Path source, int number) throws IOException, InterruptedException {
        return fixture.mount(
                source,
                "--index-rule",
                "sorted",
                "--memory",
                "4MiB",
                "--staging",
                "1MiB",
                "--loaders",
                "2",
                "--bind",
                "[::1]:" + (port + 2 * number),
                "--members",
                "[::1]:" + port);
    }

    private static @Nullable String missing() {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.ofLiteral("::1"))) {
            return probe.isBound() ? null : "no port";
        } catch (IOException e) {
            return "no socket can be bound to ::1 here: " + e.getMessage();
        }
    }
}
