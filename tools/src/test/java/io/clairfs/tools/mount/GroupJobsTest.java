package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A job is written on one node and known on all. Each node adds its own ranks. Two daemons serve all tests, a third joins and leaves. */
@Timeout(600)
final class GroupJobsTest {
    private static final int SAMPLES = 60;
    private static final int SAMPLE_BYTES = 20_000;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static Path dataset;
    private static int port;
    private static LiveMount a;
    private static LiveMount b;

    @BeforeAll
    static void mountTwo() throws Exception {
        dataset = NodeGroup.makeSamples(FIXTURE, SAMPLES, SAMPLE_BYTES);
        port = TestPorts.free(6);
        a = mount("a", 0);
        b = mount("b", 1);
        awaitGroup(List.of("a", "b"), a, b);
    }

    private static LiveMount mount(String name, int number) throws IOException, InterruptedException {
        return FIXTURE.mount(dataset, options(name, number));
    }

    private static String[] options(String name, int number) {
        return new String[] {
            "--index-rule",
            "sorted",
            "--memory",
            "1MiB",
            "--staging",
            "1MiB",
            "--loaders",
            "2",
            "--node-name",
            name,
            "--bind",
            "127.0.0.1:" + (port + 2 * number),
            "--members",
            "127.0.0.1:" + port + ",127.0.0.1:" + (port + 2)
        };
    }

    private static void awaitGroup(List<String> names, LiveMount... nodes) throws Exception {
        for (LiveMount node : nodes) {
            node.await(
                    "in a group of " + names, s -> strings(s.at("/group/nodes")).equals(names));
        }
    }

    @AfterEach
    void stopAll() throws Exception {
        Set<String> names = new TreeSet<>();
        for (LiveMount node : List.of(a, b)) {
            node.status().at("/jobs").forEach(job -> names.add(job.path("name").asString()));
        }
        for (String name : names) {
            a.await("has " + name, s -> ranks(s, name) != null);
            a.job("stop=" + name);
        }
        for (LiveMount node : List.of(a, b)) {
            node.await(
                    "without jobs",
                    s -> s.path("jobs").isEmpty() && s.at("/group/jobs").isEmpty());
        }
    }

    private static List<String> strings(JsonNode array) {
        return array.valueStream().map(JsonNode::asString).toList();
    }

    /** The ranks of a job that read on this node. Null if the node does not know the job. */
    private static String ranks(JsonNode status, String job) {
        return status.path("jobs")
                .valueStream()
                .filter(j -> j.path("name").asString().equals(job))
                .map(j -> j.path("ranks").asString())
                .findFirst()
                .orElse(null);
    }

    private static void awaitRanks(LiveMount node, String job, String ranks) throws Exception {
        node.await(job + " with ranks " + ranks, s -> ranks.equals(ranks(s, job)));
    }

    /** Waits until these nodes have made the same plan and agree on where the ranks of the only job read. */
    private static void awaitAgreement(Map<String, String> ranks, String elsewhere, LiveMount... nodes)
            throws Exception {
        List<String> digests = new ArrayList<>();
        long deadline = System.nanoTime() + 120_000_000_000L;
        while (true) {
            digests.clear();
            for (LiveMount node : nodes) {
                JsonNode group = node.await(
                                "of the same mind",
                                s -> s.at("/group/plan").asString().equals("made")
                                        && ranks.equals(ranksByNode(s.at("/group/jobs/0/ranks")))
                                        && s.at("/group/jobs/0/elsewhere")
                                                .asString()
                                                .equals(elsewhere)
                                        && s.at("/group/jobs/0/unclaimed")
                                                .asString()
                                                .isEmpty())
                        .path("group");
                digests.add(group.path("plan_digest").asString());
            }
            if (digests.stream().distinct().count() == 1) {
                return;
            }
            assertThat(System.nanoTime()).as("plans " + digests).isLessThan(deadline);
        }
    }

    private static Map<String, String> ranksByNode(JsonNode ranks) {
        Map<String, String> map = new java.util.TreeMap<>();
        ranks.forEachEntry((node, text) -> map.put(node, text.asString()));
        return map;
    }

    // Promise J9
    @Test
    void every_node_has_the_order_of_every_rank_also_where_none_reads() throws Exception {
        a.job("name=all seed=8 epochs=2 world=3 ranks=0-2");
        awaitRanks(b, "all", "none");
        for (int rank = 0; rank < 3; rank++) {
            String file = "order/all/1/" + rank + ".i64";
            assertThat(Files.readAllBytes(b.control(file)))
                    .as(file)
                    .isEqualTo(Files.readAllBytes(a.control(file)))
                    .hasSize((SAMPLES + 2) / 3 * Long.BYTES);
        }
    }

    /** Each node has room for 52 of the 60 samples. */
    // Promise G19
    @Test
    void where_names_the_other_node_that_holds_a_sample_and_is_its_home() throws Exception {
        a.job("seed=5 epochs=2 batch=4 world=2 ranks=0");
        b.job("ranks=1");
        awaitAgreement(Map.of("a", "0", "b", "1"), "", a, b);
        AtomicReference<String> found = new AtomicReference<>();
        Waiting.until("a sample is held by the other node alone", () -> {
            for (String path : a.lines("index")) {
                JsonNode where = a.where(path);
                if (where.at("/at/tiers").isEmpty()
                        && where.at("/group/holders/0/tier").asString("").equals("memory")
                        && where.at("/group/home").asString("").equals("b")) {
                    found.set(path);
                    return true;
                }
            }
            return false;
        });
        assertThat(a.where(found.get()).at("/group/holders")).hasToString("[{\"node\":\"b\",\"tier\":\"memory\"}]");
        assertThat(FIXTURE.clairfs("where", a.point(), found.get()).succeeded())
                .contains("memory of node b", "home: node b")
                .doesNotContain("the source alone");
        assertThat(FIXTURE.clairfs("where", b.point(), found.get()).succeeded())
                .contains("planned: memory; home: this node");
    }

    // Promise G10
    @Test
    void a_line_on_one_node_starts_everywhere_and_each_node_adds_its_ranks() throws Exception {
        a.job("seed=5 epochs=2 batch=4 world=2 ranks=0");
        awaitRanks(b, "train", "none");
        a.await(
                "knows what is missing",
                s -> s.at("/group/jobs/0/unclaimed").asString().equals("1")
                        && s.at("/group/plan").asString().equals("waiting"));
        b.job("ranks=1");
        assertThat(ranks(b.status(), "train")).isEqualTo("1");
        awaitAgreement(Map.of("a", "0", "b", "1"), "", a, b);
        assertThat(b.order("train", 1, 1)).isEqualTo(a.order("train", 1, 1)).hasSize(SAMPLES / 2);
    }

    @Test
    void ranks_may_be_said_before_the_job_is_known() throws Exception {
        b.job("name=later ranks=0-1");
        assertThat(b.read("job")).contains("name=later ranks=0-1");
        a.job("name=later seed=5 epochs=2 world=3");
        awaitRanks(b, "later", "0-1");
        awaitRanks(a, "later", "none");
        a.job("name=later ranks=2");
        awaitAgreement(Map.of("a", "2", "b", "0-1"), "", a, b);
    }

    @Test
    void a_full_line_on_each_node_goes_on_working_and_changes_nothing_elsewhere() throws Exception {
        a.job("seed=6 epochs=3 batch=4 world=2 ranks=0");
        FIXTURE.python("read_in_order.py", a.point(), dataset, "train", "0/0", SAMPLES / 2, 0, 0);
        a.await("in the second epoch", s -> s.at("/jobs/0/epoch").asInt() == 1);
        b.job("seed=6 epochs=3 batch=4 world=2 ranks=1");
        awaitAgreement(Map.of("a", "0", "b", "1"), "", a, b);
        assertThat(a.status().at("/jobs/0/epoch").asInt()).isEqualTo(1);
    }

    @Test
    void a_changed_line_changes_the_job_everywhere_and_ranks_stay() throws Exception {
        a.job("seed=6 epochs=3 world=2 ranks=0");
        b.job("ranks=1");
        awaitAgreement(Map.of("a", "0", "b", "1"), "", a, b);
        b.job("seed=7 epochs=3 world=2");
        a.await("with the other seed", s -> s.at("/jobs/0/seed").asString().equals("7"));
        assertThat(ranks(a.status(), "train")).isEqualTo("0");
        assertThat(ranks(b.status(), "train")).isEqualTo("1");
    }

    @Test
    void a_node_may_only_serve_and_ranks_may_move() throws Exception {
        a.job("seed=6 epochs=3 world=2 ranks=0-1");
        b.job("ranks=none");
        awaitAgreement(Map.of("a", "0-1", "b", "none"), "", a, b);
        FIXTURE.python("read_in_order.py", a.point(), dataset, "train", "0/0", SAMPLES / 2, 0, 0);
        a.job("ranks=0");
        b.job("ranks=1");
        awaitAgreement(Map.of("a", "0", "b", "1"), "", a, b);
    }

    @Test
    void a_wrong_line_of_ranks_fails_the_write() throws Exception {
        a.job("seed=6 epochs=3 world=2 ranks=0");
        awaitRanks(b, "train", "none");
        Map<String, String> reasons = Map.of(
                "ranks=2", "needs a world of at least 3",
                "ranks=0-", "neither a rank",
                "name=.. ranks=0", "must be 1 to 64 letters",
                "world=2 ranks=1 colour=red", "unknown key 'colour'",
                "stop=nobody", "there is no job 'nobody'");
        for (Map.Entry<String, String> each : reasons.entrySet()) {
            assertThatThrownBy(() -> b.job(each.getKey())).isInstanceOf(IOException.class);
            assertThat(b.lines("errors").getLast()).contains(each.getValue());
        }
        assertThat(ranks(b.status(), "train")).isEqualTo("none");
    }

    // Promise G10
    @Tag("exhaustive")
    @Test
    void a_job_stopped_on_one_node_ends_on_all_and_its_ranks_leave() throws Exception {
        a.job("seed=6 epochs=3 world=2 ranks=0");
        b.job("ranks=1");
        awaitAgreement(Map.of("a", "0", "b", "1"), "", a, b);
        b.job("stop=train");
        a.await(
                "without it",
                s -> s.path("jobs").isEmpty() && s.at("/group/jobs").isEmpty());
        a.job("stop=train"); // a script on each node says so
        a.job("seed=8 epochs=3 world=2");
        awaitRanks(b, "train", "none");
        a.await("of no ranks", s -> s.at("/group/jobs/0/ranks").isEmpty());
    }

    // Promise G11
    @Test
    void a_late_node_gets_the_jobs_and_after_a_crash_its_ranks_again() throws Exception {
        a.job("seed=9 epochs=3 world=3 ranks=0");
        b.job("ranks=1");
        LiveMount c = mount("c", 2);
        awaitRanks(c, "train", "none");
        c.job("ranks=2");
        awaitAgreement(Map.of("a", "0", "b", "1", "c", "2"), "", a, b, c);

        Ended.run(List.of("kill", "-KILL", Long.toString(c.pid())), Map.of()).succeeded();
        awaitGroup(List.of("a", "b"), a, b);
        awaitAgreement(Map.of("a", "0", "b", "1", "c", "2"), "2", a, b);
        for (LiveMount node : List.of(a, b)) {
            node.await(
                    "told that the third is not in the group",
                    s -> s.path("peers")
                            .valueStream()
                            .anyMatch(p -> p.path("name").asString().equals("c")
                                    && !p.path("alive").asBoolean()
                                    && p.path("trouble").asString("").contains("not in the group")));
        }

        c = FIXTURE.mountAt(c.point(), dataset, options("c", 2));
        awaitRanks(c, "train", "2");
        awaitAgreement(Map.of("a", "0", "b", "1", "c", "2"), "", a, b, c);
        FIXTURE.clairfs("umount", c.point()).succeeded();
        awaitGroup(List.of("a", "b"), a, b);
    }

    @Test
    void ranks_of_a_job_to_come_are_taken_beside_as_many_jobs_as_there_may_be() throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 64; i++) {
            lines.append("name=many")
                    .append(i)
                    .append(" seed=1 epochs=1 world=2 batch=2 sampler=torch-distributed ranks=0\n");
        }
        a.job(lines.toString());
        a.job("name=later ranks=0");
        assertThat(a.read("job")).contains("name=later ranks=0\n");
        a.job("stop=later");
    }
}
