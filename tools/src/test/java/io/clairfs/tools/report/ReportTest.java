package io.clairfs.tools.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.simulate.Simulator;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The report of a job whose status is given. BottleneckTest makes it of real mounts. */
final class ReportTest {
    private static final JsonMapper JSON = new JsonMapper();

    private static final Simulator.Listener SILENT = new Simulator.Listener() {
        @Override
        public void begin(String policy, long iterations) {}

        @Override
        public void at(long iterations) {}

        @Override
        public void end() {}
    };

    /** A source of 2 MB/s for each of up to 16 threads. */
    private static final ModelFile SLOW = new ModelFile(
            new ModelFile.Device(null, null, Map.of(1, 2.0, 16, 32.0), null), null, null, null, null, null, null, null);

    private static String epoch(int epoch, boolean over, double seconds, double waited) {
        return epoch(epoch, over, seconds, waited, waited);
    }

    private static String epoch(int epoch, boolean over, double seconds, double most, double least) {
        return """
                {"epoch": %d, "over": %s, "seconds": %s, "samples": 1000, "reader_wait_seconds": %s, "waited_seconds": %s,
                 "waited_at_least_seconds": %s, "told": false, "utilisation": %s,
                 "opened": 1000, "from_page_cache": 750, "fetched": {"memory": {"count": 5, "bytes": 1048576}, "source": {"count": 995, "bytes": 3145728}}}
                """.formatted(epoch, over, seconds, most, most, least, 1 - most / seconds);
    }

    /** A job over 1,000 samples of 100 kB on a node with 10 MB of memory, which holds a tenth of them, and 4 loaders. */
    private static JsonNode status(String sampleSeconds, String further, String... epochs) {
        return JSON.readTree("""
                {"mount": "/mnt/a&b", "source": "/data", "samples": 1000, "bytes": 100000000,
                 "staging": {"capacity_bytes": 4000000, "loaders": 4},
                 "tiers": [{"name": "memory", "capacity_bytes": 10000000}], "group": null,
                 "jobs": [{"name": "train", "in_sync": true, "note": null, "samples": 1000, "batch": 10, "world": 1, "epochs": 9,
                           "sample_seconds": %s, "history": [%s], "readers": [{"rank": 0}]%s}]}
                """.formatted(sampleSeconds, String.join(",", epochs), further));
    }

    private static JobReport report(JsonNode status, @Nullable Double step, @Nullable ModelFile measured) {
        return BottleneckReport.of(status, status.at("/jobs/0"), step, measured, SILENT);
    }

    /** What a program reads of a report on one job. */
    private static JsonNode json(JobReport report) {
        return JSON.readTree(ReportJson.of("/mnt/a&b", "/data", List.of(report)))
                .at("/jobs/0");
    }

    private static Document parsed(String page) throws Exception {
        assertThat(page).startsWith("<!doctype html>\n");
        String xml = page.substring(page.indexOf('\n') + 1);
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(xml.getBytes(UTF_8)));
    }

    private static List<String> texts(Document page, String tag) {
        NodeList found = page.getElementsByTagName(tag);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            texts.add(found.item(i).getTextContent());
        }
        return texts;
    }

    @Test
    void jobThatWaits_isToldSo_andWhatHelps() throws Exception {
        // 8 MB/s from the source, 20 MB/s of computation: an epoch of 5 s takes 12.5 s.
        JsonNode status = status("0.005", "", epoch(0, true, 12.5, 7.5), epoch(1, true, 12, 7), epoch(2, false, 1, 0));
        JobReport report = report(status, null, SLOW);
        assertThat(report.verdict())
                .startsWith("Data is the bottleneck: in epoch 1 the training waited for data 7.00 s of 12.0 s,"
                        + " so accelerator utilisation was 41.7 %.")
                .contains("computation alone")
                .endsWith(".");
        Outlook outlook = report.outlook();
        assertThat(outlook).isNotNull();
        assertThat(outlook.epochSeconds()).isBetween(4.99, 5.01);
        assertThat(outlook.now().firstSeconds()).isBetween(12.0, 13.0);
        assertThat(outlook.now().laterSeconds()).isLessThan(outlook.now().firstSeconds());
        assertThat(outlook.rows().stream().map(Outlook.Row::what))
                .containsExactly("as it is", "memory x 2", "memory x 4", "an SSD for the dataset", "loaders x 2 (8)");
        assertThat(outlook.rows().get(2).laterSeconds())
                .isLessThan(outlook.now().laterSeconds());
        assertThat(outlook.rows().get(3).laterSeconds()).isBetween(4.99, 5.2);
        assertThat(outlook.best()).isEqualTo(outlook.rows().get(3));
        assertThat(report.verdict()).contains("An SSD for the dataset would make it 5.0");

        JsonNode many = JSON.readTree(status.toString().replace("\"loaders\":4", "\"loaders\":600"));
        Outlook ofMany = report(many, null, SLOW).outlook();
        assertThat(ofMany).isNotNull();
        assertThat(ofMany.rows().stream().map(Outlook.Row::what))
                .as("a scenario has 1,024 threads at most")
                .containsExactly("as it is", "memory x 2", "memory x 4", "an SSD for the dataset");

        String page = ReportPage.of("/mnt/a&b", "/data", List.of(report));
        assertThat(page).doesNotContainPattern("(?i)https?://|src=|href=|@import|url\\(|<script|NaN|Infinity");
        Document document = parsed(page);
        assertThat(texts(document, "h1")).containsExactly("Is data the bottleneck?");
        assertThat(texts(document, "svg")).hasSize(3);
        assertThat(texts(document, "td"))
                .containsSubsequence("0", "12.50", "7.50", "40.0 %", "1,000", "75.0 %", "1.0 MiB", "-", "-", "3.0 MiB")
                .containsSubsequence("2 so far", "1.00", "0.00", "100.0 %");
        assertThat(ReportText.of(List.of(report)))
                .contains("epoch 1 ", "7.00 s", "41.7 %", "memory x 4", "lower bound: computation alone")
                .contains("assumed: all samples are of the mean size");
        JsonNode job = json(report);
        assertThat(job.path("bottleneck").asString()).isEqualTo("data");
        assertThat(job.path("verdict").asString()).isEqualTo(report.verdict());
        JsonNode shown = job.path("epochs");
        assertThat(shown).hasSize(3);
        for (Map.Entry<String, JsonNode> each : status.at("/jobs/0/history/1").properties()) {
            if (!each.getKey().equals("fetched")) {
                assertThat(shown.path(1).path(each.getKey())).as(each.getKey()).isEqualTo(each.getValue());
            }
        }
        assertThat(shown.path(1).propertyNames())
                .hasSize(status.at("/jobs/0/history/1").size() + 1)
                .contains("utilisation_at_most");
        assertThat(shown.at("/1/fetched/source/bytes").asLong()).isEqualTo(3_145_728);
        JsonNode simulated = job.path("simulated");
        assertThat(simulated.path("machines")).hasSize(5);
        assertThat(simulated.path("best").asString()).isEqualTo("an SSD for the dataset");
        assertThat(simulated.at("/machines/3/later_epoch_seconds").asDouble())
                .isEqualTo(outlook.rows().get(3).laterSeconds());
        assertThat(job.path("not_simulated").isNull()).isTrue();
    }

    @Test
    void jobThatComputes_isToldThatDataIsNoBottleneck() {
        JobReport report = report(status("0.1", "", epoch(3, true, 101, 1)), null, SLOW);
        assertThat(report.verdict())
                .startsWith("Data is not the bottleneck: in epoch 3 ")
                .contains("was 99.0 %")
                .endsWith("None of the changes below makes it faster.");
        assertThat(json(report).path("bottleneck").asString()).isEqualTo("not_data");
        assertThat(json(report).at("/simulated/best").isNull()).isTrue();
    }

    @Test
    void firstEpoch_isNoJudgementOfTheLaterOnes() {
        assertThat(report(status("0.005", "", epoch(0, true, 12, 7)), null, null)
                        .verdict())
                .contains("That was the first epoch here, which reads the source for all others.");
    }

    @Test
    void machineThatWasNotMeasured_reportsWhatWasSeen_andWhatToType() throws Exception {
        JobReport report = report(status("0.005", "", epoch(1, true, 12, 7)), null, null);
        assertThat(report.outlook()).isNull();
        assertThat(ReportText.of(List.of(report)))
                .contains("7.00 s", "not simulated: this machine was not measured")
                .contains("clairfs calibrate /data --memory --ssd DIR --write rates.yaml")
                .contains("clairfs report /mnt/a&b --calibration rates.yaml");
        Document page = parsed(ReportPage.of("/mnt/a&b", "/data", List.of(report)));
        assertThat(texts(page, "p")).anyMatch(text -> text.startsWith("Not simulated: this machine was not measured"));
        assertThat(texts(page, "svg")).hasSize(2);
        assertThat(json(report).path("simulated").isNull()).isTrue();
        assertThat(json(report).path("not_simulated").asString()).startsWith("this machine was not measured");
    }

    @Test
    void waitBetweenWideLimits_isNoJudgement() throws Exception {
        JobReport report = report(status("null", "", epoch(1, true, 12, 12, 0)), null, SLOW);
        assertThat(report.verdict())
                .startsWith(
                        "Whether data is the bottleneck cannot be told from outside: in epoch 1 the training waited for data"
                                + " 0.00 s to 12.0 s of 12.0 s, so accelerator utilisation was 0.0 to 100.0 %.")
                .contains("clairfs_torch.report(loader)");
        assertThat(report.outlook()).isNotNull();
        assertThat(report.outlook().epochSeconds()).isBetween(5.99, 6.01);
        assertThat(report.outlook().assumed()).anyMatch(text -> text.contains("--step"));
        Document page = parsed(ReportPage.of("/mnt", "/data", List.of(report)));
        assertThat(texts(page, "td")).containsSubsequence("1", "12.00", "0.00 to 12.00", "0.0 to 100.0 %");
        assertThat(json(report).path("bottleneck").asString()).isEqualTo("unclear");
        assertThat(json(report).at("/epochs/0/utilisation_at_most").asDouble()).isEqualTo(1);
    }

    @Test
    void jobThatNobodyReads_isNotJudged() {
        JobReport report = report(status("null", ""), null, null);
        assertThat(report.verdict()).startsWith("Nothing is known yet");
        assertThat(json(report).path("bottleneck").asString()).isEqualTo("unknown");
        assertThat(json(report).path("epochs")).isEmpty();
    }

    @Test
    void whatThePageCacheKept_countsAsMemory() {
        JsonNode kept = JSON.readTree(
                status("0.005", "", epoch(1, true, 12, 7)).toString().replace("\"count\":995", "\"count\":495"));
        JobReport report = report(kept, null, SLOW);
        assertThat(report.outlook()).isNotNull();
        assertThat(report.outlook().assumed()).anyMatch(text -> text.contains("keeps 50 % of the dataset"));
        Outlook without =
                report(status("0.005", "", epoch(1, true, 12, 7)), null, SLOW).outlook();
        assertThat(without).isNotNull();
        assertThat(report.outlook().now().laterSeconds())
                .isLessThan(0.8 * without.now().laterSeconds());
    }

    @Test
    void paceThatIsNotKnown_isWhatTheWaitsLeft_orTold() {
        JobReport seen = report(status("null", "", epoch(1, true, 12, 7)), null, SLOW);
        assertThat(seen.outlook()).isNotNull();
        assertThat(seen.outlook().epochSeconds()).isBetween(4.99, 5.01);

        JsonNode allWaits = status("null", "", epoch(1, true, 12, 12));
        assertThat(report(allWaits, null, SLOW).unknown()).contains("--step SECONDS");
        JobReport told = report(allWaits, 0.5, SLOW); // a batch of 10
        assertThat(told.outlook()).isNotNull();
        assertThat(told.outlook().epochSeconds()).isBetween(49.9, 50.1);
    }

    @Test
    void jobThatNobodyHasRead_orThatReadsElsewhere_isReported() throws Exception {
        JobReport unread = report(status("null", ""), null, SLOW);
        assertThat(unread.verdict()).isEqualTo("Nothing is known yet: nobody has read a sample of this job.");
        assertThat(unread.unknown()).contains("nothing was read yet");
        JobReport apart = report(status("0.005", ", \"world\": 4", epoch(0, true, 12, 7)), null, SLOW);
        assertThat(apart.unknown()).contains("--members");
        assertThat(ReportText.of(List.of(unread, apart))).contains("nothing was read yet", "--members");
        assertThat(texts(parsed(ReportPage.of("/mnt", "/data", List.of(unread, apart))), "h2"))
                .contains("Job train");
    }
}
