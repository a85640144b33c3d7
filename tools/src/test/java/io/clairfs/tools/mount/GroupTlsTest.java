package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** Two nodes serve each other with TLS. A third node without TLS is in their group and gets its samples from the source. */
@Timeout(600)
final class GroupTlsTest {
    private static final int SAMPLES = 40;
    private static final int SAMPLE_BYTES = 20_000;
    private static final String PASSWORD = "password";

    private static final SlowSourceSpec SLOWER_THAN_PEERS = new SlowSourceSpec(100_000_000, Duration.ofMillis(100));

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path keys;
    private int port;

    // Promise G12
    @Test
    void samples_travel_between_nodes_that_have_certificates_and_to_no_other() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        keys = fixture.newDirectory("keys");
        port = TestPorts.free(6);
        makeKey();
        List<String> tls = List.of(
                "--tls-certificate", keys.resolve("node.crt").toString(),
                "--tls-key", keys.resolve("node.key").toString(),
                "--tls-authority", keys.resolve("node.crt").toString());
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), SLOWER_THAN_PEERS)) {
            LiveMount a = mount(source.point(), 0, tls);
            LiveMount b = mount(source.point(), 1, tls);
            LiveMount c = mount(source.point(), 2, List.of());
            for (LiveMount node : List.of(a, b, c)) {
                node.await("in the group", s -> s.at("/group/nodes").size() == 3);
            }
            a.job("seed=1 epochs=2 world=2 ranks=0-1");
            a.await(
                    "holding all that has its home there",
                    s -> s.at("/group/plan").asString().equals("made")
                            && s.at("/tiers/0/samples").asInt() > 0);
            readAll(a, dataset);
            for (LiveMount node : List.of(b, c)) {
                node.await(
                        "told of what the first holds",
                        s -> first(s).path("samples").asInt() > 0);
            }
            b.await(
                    "with a first node that answers",
                    s -> first(s).path("alive").asBoolean());

            readAll(b, dataset);
            JsonNode withTls = b.status();
            assertThat(withTls.at("/fetched/peer/count").asInt())
                    .as(withTls.toPrettyString())
                    .isPositive();
            b.await(
                    "with a first node that answers still",
                    s -> first(s).path("alive").asBoolean());

            readAll(c, dataset);
            JsonNode without = c.status();
            assertThat(without.at("/fetched/peer/count").asInt()).isZero();
            assertThat(without.at("/reads/errors").asInt()).isZero();
        }
    }

    @Test
    void what_is_wrong_with_the_options_is_said_by_the_mount() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, 1, 10);
        Path point = fixture.newDirectory("mnt");
        keys = fixture.newDirectory("keys");
        makeKey();
        String certificate = keys.resolve("node.crt").toString();
        Map<List<String>, String> wrong = Map.of(
                List.of("--bind", "127.0.0.1", "--tls-key", certificate), "TLS needs all of",
                List.of("--tls-key", certificate), "a group of nodes needs --bind",
                List.of("--bind", "127.0.0.1", "--members", "slurm"), "SLURM_JOB_NODELIST is not set",
                List.of("--bind", "127.0.0.1", "--members", "kubernetes:"), "must be kubernetes:NAME",
                List.of("--bind", "127.0.0.1", "--members", "a,slurm:x"), "must be HOST or HOST:PORT");
        for (Map.Entry<List<String>, String> each : wrong.entrySet()) {
            List<Object> command = new ArrayList<>(List.of("mount", dataset, point));
            command.addAll(each.getKey());
            assertThat(fixture.clairfs(command.toArray()).err()).contains(each.getValue());
        }
        List<Object> command = new ArrayList<>(List.of("mount", dataset, point, "--bind", "127.0.0.1"));
        command.addAll(
                List.of("--tls-certificate", certificate, "--tls-key", certificate, "--tls-authority", certificate));
        assertThat(fixture.clairfs(command.toArray()).complainedWith(1)).contains("TLS");
    }

    /** The first node, as another one sees it; missing while it is not known there. */
    private JsonNode first(JsonNode status) {
        return status.path("peers")
                .valueStream()
                .filter(p -> p.path("name").asString().equals("127.0.0.1:" + port))
                .findFirst()
                .orElse(MissingNode.getInstance());
    }

    private LiveMount mount(Path dataset, int number, List<String> more) throws IOException, InterruptedException {
        List<String> options = new ArrayList<>(List.of(
                "--index-rule", "sorted",
                "--memory", "4MiB",
                "--staging", "1MiB",
                "--loaders", "2",
                "--bind", "127.0.0.1:" + (port + 2 * number),
                "--members", "127.0.0.1:" + port));
        options.addAll(more);
        return fixture.mount(dataset, options.toArray(String[]::new));
    }

    private static void readAll(LiveMount node, Path dataset) throws IOException {
        for (int i = 0; i < SAMPLES; i++) {
            assertThat(node.point().resolve("s" + i)).hasSameBinaryContentAs(dataset.resolve("s" + i));
        }
    }

    /** A key and a certificate that is its own authority. */
    private void makeKey() throws Exception {
        Path store = keys.resolve("node.p12");
        Ended.run(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "keytool")
                                        .toString(),
                                "-genkeypair",
                                "-alias",
                                "node",
                                "-keyalg",
                                "EC",
                                "-storetype",
                                "PKCS12",
                                "-storepass",
                                PASSWORD,
                                "-keystore",
                                store.toString(),
                                "-dname",
                                "CN=node",
                                "-validity",
                                "2",
                                "-ext",
                                "bc=ca:true"),
                        Map.of())
                .succeeded();
        KeyStore made = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            made.load(in, PASSWORD.toCharArray());
        }
        pem("node.crt", "CERTIFICATE", made.getCertificate("node").getEncoded());
        pem(
                "node.key",
                "PRIVATE KEY",
                made.getKey("node", PASSWORD.toCharArray()).getEncoded());
    }

    private void pem(String file, String kind, byte[] der) throws IOException {
        String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        Files.writeString(
                keys.resolve(file), "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n");
    }
}
