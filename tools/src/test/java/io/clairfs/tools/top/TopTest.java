package io.clairfs.tools.top;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Rates of an interval of two seconds, on a screen and in a line. TopCommandTest reads a real mount. */
final class TopTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private static JsonNode status(String uptime, String reads, String jobs) {
        return JSON.readTree("""
                {"pid": 7, "source": "/data", "mount": "/mnt", "uptime_seconds": %s, %s,
                 "process": {"cpu_seconds": %s, "heap_bytes": 1048576, "native_bytes": 3145728},
                 "staging": {"used_bytes": 512, "capacity_bytes": 1024, "samples": 4},
                 "tiers": [{"name": "memory", "used_bytes": 1048576, "capacity_bytes": 4194304, "samples": 9, "writable": true}],
                 "peers": [{"alive": true}, {"alive": false}], "latency": {"source": {"count": 3, "p50": 0.002, "p99": 0.0205}},
                 "errors": 0, "jobs": [%s]}
                """.formatted(uptime, reads, uptime, jobs));
    }

    private static final String JOB = """
            {"name": "train", "epoch": 3, "epochs": 90, "position": 250, "length": 1000, "in_sync": true, "done": false, "staged_ahead": 52, "note": null,
             "readers": [{"seconds_staged": 4.25}, {"seconds_staged": 1.25}], "feeders": [{"rank": 1, "ready": 3, "slots": 4}],
             "history": [{"epoch": 2, "seconds": 90}, {"epoch": 3, "seconds": 12.5, "waited_seconds": 2.5, "utilisation": 0.8}]}
            """;

    private static final JsonNode BEFORE = status("10", """
            "reads": {"opened": 1000, "from_page_cache": 900, "upcalls": 100}, "stall_seconds": 5,
            "fetched": {"memory": {"count": 10, "bytes": 1000000}, "source": {"count": 100, "bytes": 10000000}}
            """, JOB);
    private static final JsonNode NOW = status("12", """
            "reads": {"opened": 1200, "from_page_cache": 1090, "upcalls": 110}, "stall_seconds": 5.5,
            "fetched": {"memory": {"count": 30, "bytes": 5000000}, "source": {"count": 150, "bytes": 15000000}}
            """, JOB);

    @Test
    void line_hasTheRatesOfTheInterval() {
        String[] values = TopLines.of(new Interval(BEFORE, NOW)).strip().split("\\s+", -1);
        assertThat(values)
                .containsExactly(
                        "3", "250", "1.3", "100", "95.0", "5.0", "0.250", "2.0", "0.0", "0.0", "2.5", "100.0", "12.5",
                        "2.5", "80.0");
        assertThat(TopLines.HEADER.strip().split("\\s+", -1)).hasSameSizeAs(values);
        assertThat(TopLines.of(new Interval(BEFORE, NOW))).hasSameSizeAs(TopLines.HEADER);
    }

    @Test
    void line_withoutAJob_hasDashes() {
        JsonNode later = status("12", "\"reads\": {\"opened\": 1000}", "");
        assertThat(TopLines.of(new Interval(status("10", "\"reads\": {\"opened\": 1000}", ""), later))
                        .strip()
                        .split("\\s+", -1))
                .startsWith("-", "-", "-", "0", "0.0")
                .endsWith("-", "-", "-");
    }

    @Test
    void screen_showsJobsAndWhereSamplesComeFrom() {
        List<String> screen = TopScreen.of(new Interval(BEFORE, NOW));
        assertThat(screen)
                .contains(
                        "clairfs      /data at /mnt",
                        "job train    epoch 3/90  [########----------------------] 250 of 1,000  in sync",
                        "             52 samples ahead, enough for 1.3 s",
                        "             epoch 3: waited for data at most 2.5 s of 12.5 s, accelerator utilisation at least 80.0 %",
                        "             feeder of rank 1: 3 of 4 batches ready",
                        "reads        100 /s, 95.0 % of them from the page cache; 5.0 /s asked, readers waited 0.250 s each second",
                        "from memory  2.0 MB/s, 10 samples/s",
                        "from source  2.5 MB/s, 25 samples/s; half within 2.0 ms, 99 % within 20.5 ms",
                        "staging      [###############---------------] 512 B of 1.0 KiB, 4 samples",
                        "memory       [########----------------------] 1.0 MiB of 4.0 MiB, 9 samples",
                        "peers        1 of 2 answer");
        assertThat(screen).noneMatch(line -> line.startsWith("from ssd"));
    }

    @Test
    void screen_ofATrainingThatTellsItsWait_namesNoLimits() {
        JsonNode told =
                JSON.readTree(NOW.toString().replace("\"waited_seconds\":2.5", "\"waited_seconds\":2.5,\"told\":true"));
        assertThat(TopScreen.of(new Interval(BEFORE, told)))
                .contains("             epoch 3: waited for data 2.5 s of 12.5 s, accelerator utilisation 80.0 %");
    }

    @Test
    void interval_overARestart_isOfTwoDaemons() {
        assertThat(new Interval(BEFORE, NOW).isOfOneDaemon()).isTrue();
        assertThat(new Interval(NOW, BEFORE).isOfOneDaemon()).isFalse();
        JsonNode other = JSON.readTree(NOW.toString().replace("\"pid\":7", "\"pid\":8"));
        assertThat(new Interval(BEFORE, other).isOfOneDaemon()).isFalse();
    }
}
