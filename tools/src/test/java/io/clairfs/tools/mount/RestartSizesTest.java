package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** A daemon that takes over has the sizes that the mount was made with: by then the machine's memory is the trainers'. */
@Timeout(1200)
final class RestartSizesTest extends RestartFixture {
    private static final int MEMORY = 4 << 20;

    private Path kept(String file) throws IOException {
        return restartDirectories().getFirst().resolve(file);
    }

    private Properties keptMount() throws IOException {
        Properties all = new Properties();
        all.load(new StringReader(Files.readString(kept("mount"), UTF_8)));
        return all;
    }

    private void keep(Properties all) throws IOException {
        StringWriter text = new StringWriter();
        all.store(text, null);
        Files.writeString(kept("mount"), text.toString(), UTF_8);
    }

    private static long memory(JsonNode status) {
        return status.at("/tiers/0/capacity_bytes").asLong();
    }

    // Promise D8
    @Test
    void memoryThatWouldBeRefusedNow_isTakenOver_withAllSizes() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 9);
        JsonNode before = mount.status();
        String script = Files.readString(kept("restart"), UTF_8);
        assertThat(script).contains("'4MiB'");
        Files.writeString(kept("restart"), script.replace("'4MiB'", "'1024TiB'"), UTF_8); // no machine has that
        long _ = killAndAwaitNext(mount, mount.pid());

        JsonNode after = mount.status();
        assertThat(memory(after)).isEqualTo(memory(before)).isEqualTo(MEMORY);
        assertThat(after.path("memory").toString())
                .isEqualTo(before.path("memory").toString());
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        fixture.clairfs("umount", mount.point()).succeeded();
    }

    // Promise D8
    @Test
    void sizesAndFormThatNoOptionSays_areTakenOverAsTheyWereDecided_alsoTwice() throws Exception {
        makeDataset();
        LiveMount mount = fixture.mount(dataset, "--view", "decode", "--view-cache", "auto", "--restarts", "9");
        mount.awaitReady();
        mount.awaitSupervisor();
        Properties decided = keptMount();
        assertThat(decided)
                .containsEntry("memory", Long.toString(memory(mount.status())))
                .containsEntry("kept", "MADE");
        decided.putAll(Map.of("memory", Integer.toString(MEMORY), "kept", "RAW")); // neither would be decided now
        keep(decided);
        long pid = mount.pid();
        for (int i = 0; i < 2; i++) {
            pid = killAndAwaitNext(mount, pid);
            assertThat(memory(mount.status())).isEqualTo(MEMORY);
            assertThat(mount.status().at("/view/kept").asString()).isEqualTo("raw");
        }
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        fixture.clairfs("umount", mount.point()).succeeded();
    }

    @Test
    void whatAVersionKeptThatKeptNoSizes_isTakenOverWithThoseOfTheOptions() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 9);
        Properties old = keptMount();
        assertThat(old.keySet().retainAll(Set.of("source", "mountPoint", "control", "linked")))
                .isTrue();
        keep(old);
        long _ = killAndAwaitNext(mount, mount.pid());

        assertThat(memory(mount.status())).isEqualTo(MEMORY);
        assertThat(keptMount()).containsEntry("memory", Integer.toString(MEMORY));
        fixture.clairfs("umount", mount.point()).succeeded();
    }
}
