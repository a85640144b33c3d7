package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code --metrics} and {@code .clairfs/metrics} beside {@code status} and {@code top}. */
@Timeout(600)
final class ScrapeTest {
    private static final int SAMPLES = 60;
    private static final int READ = 20;
    private static final int SAMPLE_BYTES = 40_000;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private final HttpClient http = HttpClient.newHttpClient();

    private HttpResponse<String> get(int port, String path) throws Exception {
        return http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .build(),
                BodyHandlers.ofString());
    }

    private static double value(String metrics, String name) {
        List<String> found =
                metrics.lines().filter(line -> line.startsWith(name + " ")).toList();
        assertThat(found).as("%s in %s", name, metrics).hasSize(1);
        return Double.parseDouble(found.getFirst().substring(name.length() + 1));
    }

    @Test
    void status_metrics_and_top_agree() throws Exception {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("a"), SAMPLES, SAMPLE_BYTES);
        int port = TestPorts.free(1);
        LiveMount mount = fixture.mount(source, "--metrics", "127.0.0.1:" + port);
        mount.awaitReady();
        assertThat(value(get(port, "/metrics").body(), "clairfs_fetched_bytes_total{from=\"source\"}"))
                .isZero();

        mount.job("sampler=sequential epochs=3");
        for (String sample : mount.lines("index").subList(0, READ)) {
            assertThat(Files.readAllBytes(mount.point().resolve(sample))).hasSize(SAMPLE_BYTES);
        }
        mount.await(
                "all closes were reported, and all is staged",
                now -> now.at("/jobs/0/position").asInt() == READ
                        && now.at("/staging/samples").asInt() >= SAMPLES - READ
                        && now.at("/tiers/0/samples").asInt() == SAMPLES);

        String top = fixture.clairfs("top", mount.point(), "--every", "200ms", "--count", "1")
                .succeeded();
        String[] line = top.lines().toList().getLast().strip().split("\\s+", -1);
        JsonNode status = new JsonMapper()
                .readTree(fixture.clairfs("status", mount.point(), "--json").succeeded());
        HttpResponse<String> answer = get(port, "/metrics");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/plain; version=0.0.4");
        for (String metrics : List.of(answer.body(), mount.read("metrics"))) {
            assertThat(value(metrics, "clairfs_job_epoch{job=\"train\"}"))
                    .isEqualTo(status.at("/jobs/0/epoch").asDouble())
                    .isEqualTo(Double.parseDouble(line[0]));
            assertThat(value(metrics, "clairfs_job_position_samples{job=\"train\"}"))
                    .isEqualTo(status.at("/jobs/0/position").asDouble())
                    .isEqualTo(Double.parseDouble(line[1]))
                    .isEqualTo(READ);
            assertThat(value(metrics, "clairfs_files_read_total")).isEqualTo(READ);
            assertThat(value(metrics, "clairfs_reads_total{from=\"page_cache\"}"))
                    .isEqualTo(status.at("/reads/from_page_cache").asDouble());
            assertThat(value(metrics, "clairfs_reads_total{from=\"daemon\"}"))
                    .isEqualTo(status.at("/reads/upcalls").asDouble());
            assertThat(value(metrics, "clairfs_fetched_bytes_total{from=\"source\"}"))
                    .isEqualTo(status.at("/fetched/source/bytes").asDouble())
                    .isEqualTo((double) SAMPLES * SAMPLE_BYTES);
            assertThat(value(metrics, "clairfs_source_fetch_seconds_count"))
                    .isEqualTo(status.at("/latency/source/count").asDouble())
                    .isEqualTo(SAMPLES);
            assertThat(value(metrics, "clairfs_read_wait_seconds_bucket{le=\"+Inf\"}"))
                    .isEqualTo(status.at("/latency/read_wait/count").asDouble());
            assertThat(value(metrics, "clairfs_tier_bytes{tier=\"memory\"}"))
                    .isEqualTo(status.at("/tiers/0/used_bytes").asDouble());
            assertThat(value(metrics, "clairfs_ready")).isEqualTo(1);
            assertThat(metrics)
                    .doesNotContain(source.toString())
                    .doesNotContain(mount.point().toString());
        }
        assertThat(get(port, "/").statusCode()).isEqualTo(404);
        try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), port)) {
            silent.getOutputStream().write("GET /metr".getBytes(UTF_8));
            assertThat(get(port, "/metrics").statusCode())
                    .as("beside a client that says no more")
                    .isEqualTo(200);
        }
        fixture.clairfs("umount", mount.point()).succeeded();
        new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
    }

    @Test
    void address_that_cannot_be_used_is_refused_in_one_line() throws Exception {
        Path source = fixture.newDirectory("source");
        Path point = fixture.newDirectory("point");
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(fixture.clairfs("mount", source, point, "--metrics", "127.0.0.1:" + taken.getLocalPort())
                            .complainedWith(1))
                    .contains("--metrics: cannot listen on 127.0.0.1:" + taken.getLocalPort());
        }
        assertThat(fixture.clairfs("mount", source, point, "--metrics", "9567").complainedWith(2))
                .contains("--metrics '9567' must be ADDRESS:PORT");
        assertThat(fixture.mounts()).isEmpty();
    }
}
