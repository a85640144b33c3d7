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

/** When a feeder that was started apart ends, over a directory that looks like a mount. */
@Timeout(300)
final class JobWatchTest {
    private static final int RESTART_S = 60;

    @TempDir
    private Path root;

    private PretendedMount mount;
    private JobWatch watch;

    @BeforeEach
    void watchAJob() throws Exception {
        mount = new PretendedMount(root);
        watch = new JobWatch(MountedJob.find(mount.reader(), "train", 0), () -> mount.nowNs);
    }

    private void at(long second) {
        mount.nowNs = TimeUnit.SECONDS.toNanos(second);
    }

    private void assertGoesOn() throws FeedException {
        assertThat(watch.goesOn()).isTrue();
    }

    private void jobs(String lines) throws IOException {
        mount.write(PretendedMount.JOBS, lines.getBytes(UTF_8));
    }

    @Test
    void job_that_the_mount_does_not_list_any_more_has_ended_at_the_third_look() throws Exception {
        jobs("name=other seed=1\n");
        assertGoesOn();
        assertGoesOn();
        jobs("name=train seed=2\n"); // it was replaced
        assertGoesOn();
        jobs("");
        assertGoesOn();
        assertGoesOn();
        assertThat(watch.goesOn()).isFalse();
    }

    @Test
    void restart_of_the_mounts_process_is_no_end_of_the_job_however_often_it_is_looked_at() throws Exception {
        for (int errno : new int[] {Errno.ENOTCONN, Errno.ENOENT, Errno.ECONNABORTED, Errno.EIO}) {
            mount.errno = _ -> errno;
            for (int second = 0; second <= RESTART_S; second++) {
                at(second);
                assertGoesOn();
            }
            mount.errno = _ -> 0;
            assertGoesOn();
        }
    }

    @Test
    void mount_that_says_nothing_for_longer_is_an_error_that_names_it() throws Exception {
        mount.errno = _ -> Errno.ENOTCONN;
        assertGoesOn();
        at(RESTART_S + 1);
        assertThatThrownBy(() -> watch.goesOn())
                .isInstanceOf(FeedException.class)
                .hasMessageContainingAll(
                        "the mount at " + root + " has not said for 60 s whether it has the job 'train'",
                        "clairfs status " + root);
    }

    @Test
    void mount_that_is_gone_ends_the_job_at_the_third_look() throws Exception {
        mount.errno = _ -> Errno.ENOENT;
        mount.mounted = false;
        assertGoesOn();
        assertGoesOn();
        assertThat(watch.goesOn()).isFalse();
    }
}
