package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An invalid job line changes nothing, fails the write itself, and leaves a readable reason. */
@Timeout(600)
class JobLineTest {
    private static final String BEFORE = "name=before seed=3 epochs=5";

    /** Writes each argument in one write(2), and prints the result. */
    private static final String WRITE = """
            import errno, os, sys
            fd = os.open(sys.argv[1], os.O_WRONLY)
            try:
                print(os.write(fd, sys.argv[2].encode()))
            except OSError as e:
                print(errno.errorcode[e.errno])
            """;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static LiveMount mount;

    @BeforeAll
    static void mountImages() throws IOException, InterruptedException {
        Path source = FIXTURE.newDirectory("source");
        Files.createDirectories(source.resolve("c"));
        Files.createDirectories(source.resolve("bare"));
        Files.writeString(source.resolve("c/1.jpg"), "one");
        Files.writeString(source.resolve("c/2.jpg"), "two");
        Files.writeString(source.resolve("bare/3.jpg"), "three");
        mount = FIXTURE.mount(source);
        mount.awaitReady();
        mount.job(BEFORE);
    }

    // Promise J1
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "seed=1 colour=red|unknown key 'colour'; known here: batch, by, drop_last,",
                "seed=many|seed='many' is not an integer",
                "seed=1 batch=12.5|batch='12.5' is not an integer",
                "seed=-9223372036854775809|seed=-9223372036854775809 is out of range: torch takes -2^63 to 2^64-1",
                "seed=18446744073709551616|seed=18446744073709551616 is out of range: torch takes -2^63 to 2^64-1",
                "18446744073709551616|seed=18446744073709551616 is out of range: torch takes -2^63 to 2^64-1",
                "seed=18446744073709551615 epochs=2|seed + epoch=18446744073709551616 is out of range",
                "world=2 ranks=0-3|ranks=0-3 needs a world of at least 4, but world=2 has ranks 0 to 1",
                "world=4 ranks=3-1|ranks=3-1 runs backwards",
                "world=4 ranks=some|ranks='some' is neither a rank like 0 nor a range like 0-3",
                "world=0|world=0 is out of range: 1 to",
                "seed=1 epochs=0|epochs=0 is out of range: 1 to",
                "seed=1 epochs=-1|epochs=-1 is out of range: 1 to",
                "seed=1 batch=0|batch=0 is out of range: 1 to",
                "seed=1 drop_last=maybe|drop_last='maybe' is neither true nor false",
                "seed=1 epochs=3 start_epoch=3|start_epoch=3 is behind the last of 3 epochs",
                "seed=1 start_step=4|start_step counts batches: give batch= as well",
                "seed=1 sampler=magic|unknown sampler 'magic'; known: accelerate, dali,",
                "batch=100000 drop_last=true sampler=torch-generator seed=1|its ranks here would read no sample",
                "hello|'hello' is not key=value",
                "=5|'=5' is not key=value",
                "seed=1 seed=2|key 'seed' is given twice",
                "name=../x seed=1|name='../x' must be 1 to 64 letters",
                "stop=nobody|there is no job 'nobody' to stop",
                "stop=before seed=2|unknown key 'seed'",
                "seed=1 subset=nowhere|subset=nowhere is not a directory of the dataset",
                "seed=1 subset=../c|subset='../c' must be a plain path inside the dataset",
                "seed=1 subset=/c|subset='/c' begins with a slash: it must be a path inside the dataset",
                "batch=1 seed=1 start_step=300|start_step=300 of batch=1 skips 300 samples, and the epoch has 3 for each rank",
                "ranks=0|there is no job 'train' whose ranks could change; write its whole line",
                "seed=1 batch=256 start_step=12811670|start_step=12811670 of batch=256 skips 3279787520 samples",
                "seed=1 subset=bare|no class directories in bare: imagefolder expects one directory per class"
            })
    void invalid_line_fails_the_write_changes_nothing_and_leaves_its_reason(String line, String reason)
            throws Exception {
        String jobs = mount.read("job");
        long errors = mount.status().path("errors").asLong();

        assertThat(FIXTURE.python(WRITE, mount.control("job"), line)).isEqualTo("EINVAL\n");
        assertThat(mount.read("job")).isEqualTo(jobs).startsWith("name=before ");
        assertThat(mount.lines("errors").getLast()).contains("'" + line.strip() + "': " + reason);
        assertThat(mount.status().path("errors").asLong()).isEqualTo(errors + 1);
    }

    @Test
    void job_command_says_why_a_line_is_invalid() throws Exception {
        String jobs = mount.read("job");
        assertThat(FIXTURE.clairfs("job", "start", mount.point(), "world=4", "ranks=3-1")
                        .complainedWith(1))
                .contains("ranks=3-1 runs backwards");
        assertThat(mount.read("job")).isEqualTo(jobs);
    }

    @Test
    void start_at_the_end_of_an_epoch_goes_on_with_the_next() throws Exception {
        mount.job("name=saved seed=1 batch=2 epochs=3 start_epoch=1 start_step=2");
        assertThat(mount.read("job")).contains("name=saved ").contains("start_step=2");
        mount.job("stop=saved");
    }

    @Test
    void job_command_writes_a_long_line_at_once() throws Exception {
        String after = "1,".repeat(4_999) + "1";
        assertThat(FIXTURE.clairfs(
                                "job",
                                "start",
                                mount.point(),
                                "name=long",
                                "sampler=torch-generator",
                                "seed=1",
                                "batch=1",
                                "break_after=" + after,
                                "epochs=5000")
                        .exit())
                .isZero();
        assertThat(mount.read("job")).contains("break_after=" + after + "\n").contains("epochs=5000");
        mount.job("stop=long");
    }

    // Promise J2
    @Test
    void one_invalid_line_among_several_keeps_all_of_them_from_taking_effect() throws Exception {
        String jobs = mount.read("job");
        String lines = "name=good seed=1\nstop=before\nname=bad seed=x\n";
        assertThat(FIXTURE.python(WRITE, mount.control("job"), lines)).isEqualTo("EINVAL\n");
        assertThat(mount.read("job")).isEqualTo(jobs);
    }

    @Test
    void largest_and_smallest_seed_are_taken() throws Exception {
        for (String seed : List.of("-9223372036854775808", "18446744073709551615")) {
            String line = "name=edge seed=" + seed + " epochs=1\n";
            assertThat(FIXTURE.python(WRITE, mount.control("job"), line)).isEqualTo(line.length() + "\n");
            assertThat(mount.read("job")).contains("name=edge").contains("seed=" + seed + " ");
        }
        mount.job("stop=edge");
    }

    @Test
    void a_shell_sees_its_redirection_fail() throws Exception {
        Ended shell = Ended.run(List.of("bash", "-c", "echo nonsense > " + mount.control("job")), java.util.Map.of());
        assertThat(shell.exit()).isNotZero();
        assertThat(shell.err()).contains("Invalid argument");
    }

    @Test
    void files_that_only_tell_cannot_be_written() throws Exception {
        String open = "import errno, os, sys\ntry:\n os.open(sys.argv[1], os.O_WRONLY)\nexcept OSError as e:"
                + "\n print(errno.errorcode[e.errno])";
        for (String file : List.of("status", "status.json", "errors", "index")) {
            assertThat(FIXTURE.python(open, mount.control(file))).isEqualTo("EACCES\n");
        }
    }

    @Test
    void job_command_away_from_any_mount_says_so() throws Exception {
        assertThat(FIXTURE.clairfs("job", "list", FIXTURE.directory()).complainedWith(1))
                .contains("is not on a clairfs mount");
        assertThat(FIXTURE.clairfs("job").complainedWith(2)).contains("give one of start, list, stop");
    }
}
