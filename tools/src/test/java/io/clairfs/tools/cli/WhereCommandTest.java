package io.clairfs.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

final class WhereCommandTest {
    private static String text(String tiers, String planned, String group) {
        return WhereCommand.text(new JsonMapper().readTree("""
                {"path": "a.jpg", "sample": 3, "bytes": 1000,
                 "at": {"staged": false, "tiers": [%s], "planned": %s, "next_uses": []}, "group": %s}""".formatted(tiers, planned, group)));
    }

    @Test
    void sampleOfANodeAlone_isSaidAsBefore() {
        assertThat(text("", "null", "null"))
                .isEqualTo("a.jpg: sample 3, 1,000 bytes\n  held in: the source alone; planned: nowhere\n");
        assertThat(text("\"memory\"", "\"memory\"", "null")).contains("held in: memory; planned: memory\n");
    }

    @Test
    void sampleThatAnotherNodeHolds_namesItsTierAndTheHome() {
        assertThat(text("", "null", """
                        {"node": "a", "joined": true, "holders": [{"node": "b", "tier": "ssd"}], "home": "b"}""")).contains("held in: ssd of node b; planned: not here; home: node b\n");
        assertThat(text("\"memory\"", "\"memory\"", """
                        {"node": "a", "joined": true, "holders": [{"node": "b", "tier": "memory"}], "home": "a"}"""))
                .contains("held in: memory, memory of node b; planned: memory; home: this node\n");
    }

    @Test
    void sampleOfManyNodes_namesEightOfThem() {
        String holders = IntStream.range(0, 10)
                .mapToObj(node -> "{\"node\": \"n" + node + "\", \"tier\": \"memory\"}")
                .collect(Collectors.joining(","));
        assertThat(text(
                        "",
                        "null",
                        "{\"node\": \"a\", \"joined\": true, \"holders\": [" + holders + "], \"home\": null}"))
                .contains("memory of node n7, 2 more nodes; planned: nowhere\n")
                .doesNotContain("n8");
    }

    @Test
    void nodeThatHasNotJoined_saysThatTheOthersAreNotKnown() {
        assertThat(text("", "null", """
                {"node": "a", "joined": false, "holders": [], "home": null}""")).endsWith("  not in its group now: what other nodes hold is not known\n");
    }
}
