package io.clairfs.tools.node.restart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.tools.node.job.UnfinishedJob;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the next process reads of the jobs is what this one wrote. */
final class SavedJobsTest {
    private static List<UnfinishedJob> parse(String text) throws IOException {
        return SavedJobs.parse(
                text,
                JobSpec::parse,
                () -> {
                    throw new AssertionError("all answer");
                },
                warning -> {
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

    @Test
    void jobThatIsNoneAnyMore_isLeftOutWithAWarning_andTheOthersAreRead() throws Exception {
        Path gone = Path.of("/there/is/no/rng");
        String text = "user 0 - name=a seed=1\nuser 0 - name=b sampler=torch-state epochs=3 state=" + gone
                + "\nuser 0 - name=c seed=1\n";
        List<String> warnings = new ArrayList<>();
        List<UnfinishedJob> read = SavedJobs.parse(text, JobSpec::parse, () -> {}, warnings::add);
        assertThat(read).extracting(job -> job.spec().name()).containsExactly("a", "c");
        assertThat(warnings).singleElement().asString().contains("is lost: ").contains(gone.toString());
    }

    /** Makes no job until it has been asked so often. */
    private static SavedJobs.Parser silent(int questions) {
        AtomicInteger asked = new AtomicInteger();
        return (line, ranks) -> {
            if (asked.incrementAndGet() <= questions) {
                throw new OrderNotReadyException("state file /rng does not answer");
            }
            return JobSpec.parse(line, ranks);
        };
    }

    @Test
    void jobWhoseFileDoesNotAnswer_isAskedForAgain_twiceInAll() throws Exception {
        AtomicInteger pauses = new AtomicInteger();
        List<String> warnings = new ArrayList<>();
        String longer = "name=b seed=1 subset=" + "d/".repeat(60) + "d";
        String text = "user 0 - name=a seed=1\nuser 0 - " + longer + "\n";
        assertThat(SavedJobs.parse(text, silent(2), pauses::incrementAndGet, warnings::add))
                .extracting(job -> job.spec().name())
                .containsExactly("a", "b");
        assertThat(pauses).hasValue(2);
        assertThat(warnings).isEmpty();

        assertThat(SavedJobs.parse(text, silent(4), pauses::incrementAndGet, warnings::add))
                .isEmpty();
        assertThat(pauses).hasValue(4);
        assertThat(warnings).hasSize(2);
        assertThat(warnings.getFirst()).endsWith("write it again: name=a seed=1");
        assertThat(warnings.getLast()).endsWith("write it again: " + longer);
    }

    @ParameterizedTest
    @ValueSource(strings = {"user 0 12", "user 0 x seed=1", "user 9x - seed=1"})
    void anythingElse_isRefusedWithTheLine(String line) {
        assertThatThrownBy(() -> parse(line + "\n"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not a saved job: " + line);
    }
}
