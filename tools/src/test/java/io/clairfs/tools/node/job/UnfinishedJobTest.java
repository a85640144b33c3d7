package io.clairfs.tools.node.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What of a job is written anew for a restart: whatever differs. */
final class UnfinishedJobTest {
    private static final String LINE = "name=a seed=7 world=4";

    private static List<UnfinishedJob> job(String line, String ranks, boolean isFound, long... positions)
            throws Exception {
        return List.of(new UnfinishedJob(JobSpec.parse(line, Ranks.parse(ranks)), positions, isFound));
    }

    @Test
    void jobsAtTheSamePlaces_areTheSame_andOthersAreNot() throws Exception {
        List<UnfinishedJob> jobs = job(LINE, "1", false, 5);

        assertThat(UnfinishedJob.areSame(jobs, job(LINE, "1", false, 5))).isTrue();
        assertThat(UnfinishedJob.areSame(List.of(), List.of())).isTrue();
        assertThat(UnfinishedJob.areSame(jobs, job(LINE, "1", false, 6))).isFalse();
        assertThat(UnfinishedJob.areSame(jobs, job(LINE, "2", false, 5))).isFalse();
        assertThat(UnfinishedJob.areSame(jobs, job(LINE, "1", true, 5))).isFalse();
        assertThat(UnfinishedJob.areSame(jobs, job("name=a seed=8 world=4", "1", false, 5)))
                .isFalse();
        assertThat(UnfinishedJob.areSame(jobs, List.of())).isFalse();
    }
}
