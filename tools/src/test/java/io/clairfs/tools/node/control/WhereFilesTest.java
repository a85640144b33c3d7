package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.control.ControlFile.UnavailableException;
import io.clairfs.fs.control.ControlTree.FileNode;
import io.clairfs.tools.node.UnmountedNode;
import io.clairfs.tools.node.cluster.SampleInGroup;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class WhereFilesTest {
    @SuppressWarnings("NullAway.Init")
    private UnmountedNode node;

    @BeforeEach
    void start(@TempDir Path dataset) throws Exception {
        node = new UnmountedNode(dataset, 3);
        node.dataset.tree.complete().join();
    }

    @AfterEach
    void end() throws Exception {
        node.close();
    }

    private JsonNode where(IntFunction<@Nullable SampleInGroup> group) throws UnavailableException {
        WhereFiles where = new WhereFiles(node.dataset.tree, node.indexes, node.prefetcher, group, node.errors);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(1 << 12);
            int length = where.find(List.of("s000001")) instanceof FileNode(var file)
                    ? file.content().read(0, into)
                    : 0;
            return new JsonMapper().readTree(new String(into.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), UTF_8));
        }
    }

    @Test
    void nodeAlone_hasNoGroup_andAllOtherKeys() throws Exception {
        JsonNode answer = where(_ -> null);
        assertThat(answer.propertyNames()).containsExactlyInAnyOrder("path", "sample", "bytes", "at", "group");
        assertThat(answer.path("at").propertyNames())
                .containsExactlyInAnyOrder("staged", "tiers", "planned", "next_uses");
        assertThat(answer.path("group").isNull()).isTrue();
    }

    @Test
    void nodeOfAGroup_namesTheHoldersAndTheHome() throws Exception {
        JsonNode group = where(_ -> new SampleInGroup("a", true, List.of(new SampleInGroup.Holder("b", "memory")), "b"))
                .path("group");
        assertThat(group).isEqualTo(new JsonMapper().readTree("""
                        {"node": "a", "joined": true, "holders": [{"node": "b", "tier": "memory"}], "home": "b"}"""));
    }
}
