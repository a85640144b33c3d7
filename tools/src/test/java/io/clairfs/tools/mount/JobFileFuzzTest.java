package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.fuzz.Fuzz;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** After any write to the job file of a running mount, the mount goes on and reports what it refused. */
@Timeout(10_000)
final class JobFileFuzzTest {
    private static final String KEPT = "name=kept seed=3 epochs=2";
    private static final int LONGEST = 31 * 4096;
    private static final long LONGEST_S = 120;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static Path source;
    private static LiveMount mount;

    @BeforeAll
    static void mountImages() throws IOException, InterruptedException {
        source = FIXTURE.newDirectory("source");
        for (int i = 0; i < 30; i++) {
            Files.writeString(
                    Files.createDirectories(source.resolve("c" + i % 3)).resolve(i + ".jpg"), "sample " + i);
        }
        FIXTURE.environment("JDK_JAVA_OPTIONS", "-Xmx256m"); // a request that needs more heap fails
        mount = FIXTURE.mount(source);
        mount.awaitReady();
    }

    /** Stops all jobs, so that each test has room for its own. */
    @BeforeEach
    void stopJobs() throws IOException {
        for (String line : mount.lines("job")) {
            String name = line.replaceFirst("(?:.* )?name=([^ ]*).*", "$1");
            assertThat(write(("stop=" + name).getBytes(ISO_8859_1))).as(line).isTrue();
        }
        assertThat(mount.read("job")).isEmpty();
    }

    /** Writes with one write(2). Returns whether the write was accepted. */
    private static boolean write(byte[] bytes) throws IOException {
        try (RandomAccessFile job = new RandomAccessFile(mount.control("job").toFile(), "rw")) {
            job.getChannel().write(java.nio.ByteBuffer.wrap(bytes));
            return true;
        } catch (IOException e) {
            assertThat(e.getMessage()).contains("Invalid argument");
            return false;
        }
    }

    private static byte[] message(Fuzz fuzz) {
        StringBuilder lines = new StringBuilder();
        for (int left = fuzz.random().nextInt(fuzz.random().nextInt(10) == 0 ? 200 : 4); left >= 0; left--) {
            String name = "j" + fuzz.random().nextInt(90);
            lines.append(fuzz.oneOf(
                    "name=" + name + " seed=" + left + " epochs=2\n",
                    "name=" + name + " seed=1 sampler=torch-default batch=2 epochs=3\n",
                    "name=" + name + " world=4 ranks=0-1 batch=2 drop_last=true\n",
                    "stop=" + name + "\n",
                    left + "\n"));
        }
        byte[] valid = lines.toString().getBytes(ISO_8859_1);
        return switch (fuzz.random().nextInt(6)) {
            case 0 -> fuzz.bytes();
            case 1, 2 -> valid;
            default -> fuzz.mutated(valid);
        };
    }

    // Promise J4
    @Test
    void anyMessage_isTakenOrChangesNothing() throws Exception {
        Fuzz fuzz = Fuzz.of(
                "the job file", 150, List.of("seed=", "name=", "stop=", "sampler=dali", "\n", "=", "order/", "\u0000"));
        mount.job(KEPT);
        int taken = 0;
        int refused = 0;
        while (fuzz.next()) {
            byte[] message = message(fuzz);
            String before = mount.read("job");
            long errors = mount.status().path("errors").asLong();
            long begun = System.nanoTime();
            boolean wasTaken = write(message);
            assertThat(System.nanoTime() - begun).as(fuzz.where()).isLessThan(TimeUnit.SECONDS.toNanos(LONGEST_S));
            if (wasTaken) {
                taken++;
            } else {
                refused++;
                assertThat(mount.read("job")).as(fuzz.where()).isEqualTo(before);
                assertThat(mount.status().path("errors").asLong())
                        .as(fuzz.where())
                        .isGreaterThan(errors);
                assertThat(mount.lines("errors").getLast())
                        .as(fuzz.where())
                        .contains("job")
                        .doesNotContain("Exception")
                        .matches("[^\\p{Cntrl}]{1,2100}");
            }
            assertThat(mount.lines("job")).as(fuzz.where()).hasSizeLessThanOrEqualTo(64);
            name(fuzz);
        }
        for (Path file : List.of(Path.of("c0/0.jpg"), Path.of("c2/29.jpg"))) {
            assertThat(Files.mismatch(mount.point().resolve(file), source.resolve(file)))
                    .isEqualTo(-1);
        }
        System.out.println("fuzz the job file: " + taken + " taken, " + refused + " refused");
        assertThat(taken).isPositive();
        assertThat(refused).isPositive();
    }

    /** Looks up a generated name among the control files. */
    private static void name(Fuzz fuzz) {
        String name = fuzz.mutated("order/kept/1/0").replace('\u0000', ' ');
        if (name.length() < 200 && !name.contains("..")) {
            var _ = mount.control("where")
                    .resolveSibling(name.replaceAll("^/+", ""))
                    .toFile()
                    .length();
        }
    }

    // Promise J4
    @Test
    void messageThatIsTooLong_isRefusedAsAWhole() throws Exception {
        for (int bytes : List.of(LONGEST + 1, LONGEST + 3000, 128 * 1024, 2 * LONGEST - 5, 1_000_000)) {
            byte[] lines = "name=long seed=1 epochs=1\n".repeat(bytes / 26 + 1).getBytes(ISO_8859_1);
            assertThat(write(Arrays.copyOf(lines, bytes))).isFalse();
            assertThat(mount.lines("errors").getLast()).endsWith("a message has at most " + LONGEST + " bytes");
        }
        byte[] longest = new byte[LONGEST];
        Arrays.fill(longest, (byte) '\n');
        System.arraycopy(KEPT.getBytes(ISO_8859_1), 0, longest, LONGEST - KEPT.length(), KEPT.length());
        assertThat(write(longest)).isTrue();
        assertThat(mount.read("job")).contains("name=kept");
    }

    // Promise J4
    @Test
    void moreJobsThanThereMayBe_areRefusedTogether() throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 65; i++) {
            lines.append("name=many").append(i).append(" seed=1 epochs=1\n");
        }
        String before = mount.read("job");
        assertThat(write(lines.toString().getBytes(ISO_8859_1))).isFalse();
        assertThat(mount.read("job")).isEqualTo(before);
        assertThat(mount.lines("errors").getLast()).contains("there are 64 jobs already; stop one first");
    }

    // Promise J4
    @Test
    void orderFromAPipe_isRefusedAndNobodyWaits() throws Exception {
        Path pipe = FIXTURE.directory().resolve("pipe");
        Ended.run(List.of("mkfifo", pipe.toString()), java.util.Map.of()).succeeded();
        for (String line : List.of("sampler=order-file file=" + pipe, "sampler=torch-state batch=1 state=" + pipe)) {
            assertThat(write(("name=p epochs=1 " + line).getBytes(ISO_8859_1))).isFalse();
            assertThat(mount.lines("errors").getLast()).endsWith("is not a file");
        }
    }
}
