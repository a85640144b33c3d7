package io.clairfs.gpufeeder.feed;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.posix.Errno;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A job whose mount's process dies and is started again, over a directory that looks like a mount. FeedRestartTest has a real one. */
@Timeout(300)
final class MountedJobTest {
    /** How long the supervisor waits for a new process. */
    private static final int RESTART_S = 60;

    @TempDir
    private Path root;

    private PretendedMount mount;

    @BeforeEach
    void pretendAMount() throws IOException {
        mount = new PretendedMount(root);
    }

    private MountedJob job() throws Exception {
        MountedJob job = MountedJob.find(mount.reader(), "train", 0);
        mount.asked.clear();
        return job;
    }

    private void at(long second) {
        mount.nowNs = TimeUnit.SECONDS.toNanos(second);
    }

    private void assertComesLater(MountedJob job) {
        assertThatThrownBy(() -> job.order(1))
                .isInstanceOf(OrderLaterException.class)
                .hasMessage("the next process of the mount at " + root);
    }

    private static void assertIsGone(MountedJob job) {
        assertThatThrownBy(() -> job.order(1))
                .isInstanceOf(FeedException.class)
                .hasMessageContainingAll("no clairfs mount answers at ", "clairfs mount SOURCE ");
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.ENOENT, Errno.ENOTCONN, Errno.ECONNABORTED})
    void order_that_is_read_while_the_next_process_of_the_mount_starts_comes_later(int errno) throws Exception {
        MountedJob job = job();
        for (long restart : new long[] {0, 1_000}) {
            mount.errno = _ -> errno;
            at(restart);
            assertComesLater(job);
            at(restart + RESTART_S);
            assertComesLater(job);
            mount.errno = _ -> 0;
            assertThat(job.order(1)).containsExactly(1, 0);
        }
    }

    private MountedJob jobOf(String line) throws Exception {
        mount.write(PretendedMount.JOBS, (line + "\n").getBytes(UTF_8));
        return job();
    }

    @Test
    void start_is_where_the_job_begins_whatever_the_batches_of_the_feeder_are() throws Exception {
        MountedJob job = jobOf("name=train seed=1 batch=64 start_step=3");
        assertThat(job.startStep(64)).isEqualTo(3);
        assertThat(job.startStep(32)).isEqualTo(6);
        assertThatThrownBy(() -> job.startStep(128))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("begins at sample 192, within a batch of 128");
    }

    @Test
    void batch_is_that_of_a_rank() throws Exception {
        assertThat(jobOf("name=train seed=1 sampler=accelerate split_batches=true batch=32 world=8")
                        .batch())
                .isEqualTo(4);
        assertThat(jobOf("name=train seed=1").batch()).isZero();
    }

    @Test
    void job_of_other_keys_has_replaced_this_one_and_one_of_other_ranks_has_not() throws Exception {
        MountedJob job = jobOf("name=train seed=1 world=4 ranks=0-1 epochs=2");
        JobSamples samples = JobSamples.read(job, new FeedOptions.None(), 0);
        mount.write(PretendedMount.JOBS, "name=train epochs=2 seed=1 ranks=0 world=4\n".getBytes(UTF_8));
        assertThat(job.isReplaced()).isFalse();
        assertThat(job().keys()).isEqualTo(job.keys());
        assertThat(samples.order(1)).containsExactly(1, 0);
        mount.write(PretendedMount.JOBS, "name=train seed=1 world=4 epochs=90\n".getBytes(UTF_8));
        assertThat(job.isReplaced()).isTrue();
        assertThat(job().keys()).isNotEqualTo(job.keys());
        assertThatThrownBy(() -> samples.order(1))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("the job 'train' was replaced");
    }

    @Test
    void mount_that_no_process_serves_for_longer_than_a_restart_takes_is_gone() throws Exception {
        MountedJob job = job();
        mount.errno = _ -> Errno.ENOTCONN;
        assertComesLater(job);
        at(RESTART_S + 1);
        assertIsGone(job);
    }

    @Test
    void mount_that_is_not_in_the_table_any_more_is_gone_at_once() throws Exception {
        MountedJob job = job();
        mount.errno = _ -> Errno.ENOENT;
        mount.mounted = false;
        assertIsGone(job);
        assertThatThrownBy(() -> MountedJob.find(mount.reader(), "train", 0))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("no clairfs mount answers at ");
    }

    @Test
    void file_that_a_mount_which_answers_does_not_have_is_asked_for_twice() throws Exception {
        MountedJob job = job();
        mount.errno = name -> name.equals(PretendedMount.ORDER) ? Errno.ENOENT : 0;
        assertThatThrownBy(() -> job.order(1))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("has ended or changed");
        assertThat(mount.asked).containsExactly(PretendedMount.ORDER, PretendedMount.STATUS, PretendedMount.ORDER);
    }

    @Test
    void order_is_read_where_the_next_process_answers_just_after_a_read_that_failed() throws Exception {
        MountedJob job = job();
        mount.errno = _ -> mount.asked.size() == 1 ? Errno.ENOENT : 0;
        assertThat(job.order(1)).containsExactly(1, 0);
    }

    @Test
    void order_that_has_still_to_be_written_is_that_of_a_mount_which_answers() throws Exception {
        MountedJob job = job();
        mount.errno = _ -> Errno.EAGAIN;
        assertThatThrownBy(() -> job.order(1))
                .isInstanceOf(OrderLaterException.class)
                .hasMessage("the order of epoch 1 of the job 'train'");
        assertThat(mount.asked).containsExactly(PretendedMount.ORDER);
    }

    @Test
    void feeder_that_begins_while_the_next_process_starts_waits_for_it() throws Exception {
        mount.errno = _ -> mount.asked.size() <= 4 ? Errno.ENOTCONN : 0;
        MountedJob job = MountedJob.find(mount.reader(), "train", 0);
        assertThat(mount.asked)
                .containsExactly(
                        PretendedMount.JOBS,
                        PretendedMount.STATUS,
                        PretendedMount.JOBS,
                        PretendedMount.STATUS,
                        PretendedMount.JOBS);
        mount.asked.clear();
        assertThat(JobSamples.read(job, new FeedOptions.None(), 60_000).count()).isEqualTo(2);
        assertThat(mount.asked).hasSize(5);
    }
}
