package io.clairfs.tools.node.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlFile;
import io.clairfs.tools.node.UnmountedNode;
import io.clairfs.tools.node.job.JobTable;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Jobs over samples that are links out of the source. The dataset, its index and the prefetcher are real. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class LinkedSamplesTest {
    private static final int LINKS = 100;

    @Test
    void samplesThatAllLeadOutOfTheSource_areRefusedWithTheRemedy_someAreNot(
            @TempDir Path directory, @TempDir Path outside) throws Exception {
        Path links = Files.createDirectory(directory.resolve("links"));
        for (int i = 0; i < LINKS; i++) {
            Files.createSymbolicLink(links.resolve("s" + i), Files.writeString(outside.resolve("s" + i), "sample"));
        }
        UnmountedNode node = new UnmountedNode(directory, 10);
        try {
            JobTable jobs = new JobTable(node.indexes, node.prefetcher, null, node.errors, System::nanoTime);
            JobControl control = new JobControl(node.indexes, jobs, node.prefetcher.looks(), node.errors);
            String line = "name=out seed=1 batch=64 subset=links";
            assertThatThrownBy(() -> control.accept(line + "\n"))
                    .isInstanceOf(ControlFile.RejectedException.class)
                    .hasMessageContaining("none of its " + LINKS + " samples has its file in the source")
                    .hasMessageContaining("mount the directory that holds the files");
            jobs.begin(JobSpec.parse(line)); // as a group starts it, or a daemon that goes on
            assertThat(node.errors.lines())
                    .extracting(ErrorLog.Line::message)
                    .anyMatch(message -> message.startsWith("job out not started: none of its " + LINKS));
            assertThat(jobs.present()).isEmpty();

            control.accept("name=all seed=1 batch=64\n");
            assertThat(node.prefetcher.job("all")).isPresent();
        } finally {
            node.close();
        }
    }
}
