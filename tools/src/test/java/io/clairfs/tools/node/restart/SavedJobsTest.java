package io.clairfs.tools.node.restart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.tools.node.job.UnfinishedJob;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the next process reads of the jobs is what this one wrote. */
final class SavedJobsTest {
    private static List<UnfinishedJob> parse(String text) throws IOException {
        return SavedJobs.parse(text, warning -> {
            throw new AssertionError(warning);
        });
    }

    @Test
    void jobs_areReadAsTheyWere() throws Exception {
        UnfinishedJob two = new UnfinishedJob(
                JobSpec.parse("name=a seed=7 world=4 ranks=2-3 epochs=9 batch=8"),
                new long[] {AccessStream.position(3, 17), AccessStream.END},
                false);
        // In a group a line may be without ranks: those that the node named before
        UnfinishedJob elsewhere =
                new UnfinishedJob(JobSpec.parse("name=b seed=1 world=2", Ranks.parse("1")), new long[] {5}, false);
        UnfinishedJob waits = new UnfinishedJob(JobSpec.parse("name=c seed=1"), new long[0], true);

        List<UnfinishedJob> read = parse(SavedJobs.text(List.of(two, elsewhere, waits)));

        assertThat(read).usingRecursiveComparison().isEqualTo(List.of(two, elsewhere, waits));
        assertThat(read.get(1).spec().ranks().text()).isEqualTo("1");
    }

    @Test
    void noJobs_areNoLines() throws Exception {
        assertThat(SavedJobs.text(List.of())).isEmpty();
        assertThat(parse("")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"user 0 12", "user 0 x seed=1", "user 9x - seed=1", "user 0 - seed=1 epochs=none"})
    void anythingElse_isRefusedWithTheLine(String line) {
        assertThatThrownBy(() -> parse(line + "\n"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not a saved job: " + line);
    }
}
