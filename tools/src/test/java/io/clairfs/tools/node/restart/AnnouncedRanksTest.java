package io.clairfs.tools.node.restart;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.Ranks;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ranks that the next process reads are those that this one wrote. */
final class AnnouncedRanksTest {
    private final List<String> warnings = new ArrayList<>();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path directory;

    @Test
    void ranks_areReadAsTheyWere_andNoFileMeansNone() throws Exception {
        RestartDirectory kept = new RestartDirectory(directory);
        assertThat(AnnouncedRanks.read(kept, warnings::add)).isEmpty();
        Map<String, Ranks> announced =
                Map.of("a", Ranks.NONE, "b.c_d-1", Ranks.parse("4-7"), "train", Ranks.parse("0"));
        AnnouncedRanks.write(kept, announced);
        assertThat(AnnouncedRanks.read(kept, warnings::add)).isEqualTo(announced);
        AnnouncedRanks.write(kept, Map.of());
        assertThat(AnnouncedRanks.read(kept, warnings::add)).isEmpty();
        assertThat(warnings).isEmpty();
    }

    @Test
    void fileThatIsDamaged_isAWarning() throws Exception {
        RestartDirectory kept = new RestartDirectory(directory);
        for (String damaged : List.of("train\n", "train 7-4\n")) {
            kept.replace("ranks", damaged);
            assertThat(AnnouncedRanks.read(kept, warnings::add)).isEmpty();
        }
        assertThat(warnings).hasSize(2).allMatch(line -> line.contains("write them again"));
    }
}
