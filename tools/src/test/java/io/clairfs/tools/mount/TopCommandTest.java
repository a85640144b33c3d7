package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code clairfs top} on a real mount. */
@Timeout(600)
final class TopCommandTest {
    private static final int SAMPLES = 100;
    private static final int SAMPLE_BYTES = 50_000;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    @Test
    void lines_show_what_is_read_and_wrong_use_is_one_line() throws Exception {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("a"), SAMPLES, SAMPLE_BYTES);
        LiveMount mount = fixture.mount(source);
        mount.awaitReady();

        fixture.start("top", Clairfs.command("top", mount.point().toString(), "--every", "200ms"));
        await("its first reading of the status", lines -> lines.size() > 1);
        for (String sample : mount.lines("index")) {
            assertThat(Files.readAllBytes(mount.point().resolve(sample))).hasSize(SAMPLE_BYTES);
        }
        await("the reads", lines -> lines.stream().skip(1).anyMatch(line -> column(line, 3) > 0));
        await("the source", lines -> lines.stream().skip(1).anyMatch(line -> column(line, 10) > 0));
        assertThat(lines().getFirst()).contains("epoch", "reads", "source_MB");

        Ended two = fixture.clairfs("top", mount.point(), "--every", "100ms", "--count", "2");
        assertThat(two.succeeded().lines()).hasSize(3);
        List<String> all = Clairfs.command("top", mount.point().toString(), "--every", "100ms");
        List<String> behindHead = new ArrayList<>(List.of("sh", "-c", "\"$@\" | head -n 1", "sh"));
        behindHead.addAll(all);
        assertThat(Ended.run(behindHead, fixture.environment()).succeeded()).contains("source_MB");
        assertThat(fixture.clairfs("top", mount.point(), "--every", "soon").complainedWith(2))
                .contains("'soon' is not a time like 1s");
        assertThat(fixture.clairfs("top", fixture.directory()).complainedWith(1))
                .contains("is not on a clairfs mount");
    }

    private void await(String what, Predicate<List<String>> condition) throws IOException, InterruptedException {
        while (!condition.test(lines())) {
            Thread.sleep(20); // as long as the test may take
        }
        System.out.println("top has shown " + what);
    }

    /** The whole lines that it has written. */
    private List<String> lines() throws IOException {
        String text = Files.readString(fixture.said("top"));
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    }

    private static double column(String line, int number) {
        return line.contains("epoch") ? 0 : Double.parseDouble(line.strip().split("\\s+", -1)[number]);
    }
}
