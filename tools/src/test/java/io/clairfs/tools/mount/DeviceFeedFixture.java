package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.clairfs.gpufeeder.device.DeviceProbe;
import io.clairfs.gpufeeder.device.StandInDriver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A feeder whose batches lie in the memory of a GPU: the machine's own, and where there is none, a library that stands in for its driver. */
abstract class DeviceFeedFixture {
    /** What every script here begins with. What a piece of it leaves open is left open on the device: they are functions. */
    private static final String HEAD = """
            import os, signal, time
            decode = "raw,dtype=float32,shape=6x5,offset=12"
            def check_batch(job, batch, labels, indices):
                for one, label, index in zip(batch.numpy(), labels.numpy(), indices):
                    check(job, int(index), int(label), one, 12)
            """;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    static final boolean HAS_GPU = DeviceProbe.run() instanceof DeviceProbe.Found;
    private static Path source;
    static LiveMount mount;
    static StandInDriver standIn;

    @BeforeAll
    static void mountSamples() throws IOException, InterruptedException {
        assumeTrue(
                HAS_GPU || StandInDriver.canBeMade(),
                "no GPU, and no /usr/bin/gcc: the library that stands in for its driver cannot be made");
        if (!HAS_GPU) {
            standIn = StandInDriver.make(FIXTURE.newDirectory("gpu"));
        }
        source = FIXTURE.newDirectory("source");
        FeedSamples.make(source);
        FIXTURE.python("""
                import os, sys, numpy, PIL.Image
                os.makedirs(sys.argv[1])
                random = numpy.random.default_rng(3)
                for i in range(60):
                    PIL.Image.fromarray(random.integers(0, 256, (9, 14, 3), dtype=numpy.uint8)).save("%s/%d.png" % (sys.argv[1], i))
                """, source.resolve("images/a"));
        mount = FIXTURE.mount(source);
        mount.awaitReady();
    }

    @AfterEach
    void stopJobs() throws IOException {
        mount.stopJobs();
    }

    static Map<String, String> environment(Map<String, String> ofDriver) {
        Map<String, String> all = new TreeMap<>(FIXTURE.environment());
        all.putAll(ofDriver);
        return all;
    }

    static Map<String, String> driver() {
        return HAS_GPU ? Map.of() : standIn.environment();
    }

    static List<String> train(Map<String, String> ofDriver, String script) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(FIXTURE.pythonCommand("feed_trainer.py", mount.point(), source, HEAD + script));
        command.addAll(Clairfs.command());
        Ended ended = Ended.run(command, environment(ofDriver));
        return ended.succeeded().lines().toList();
    }

    static void assertThatNothingIsLeft() throws IOException {
        assertThat(FIXTURE.processes()).as("only the daemon is left").hasSize(1);
        if (!HAS_GPU) {
            assertThat(standIn.left()).isEmpty();
            assertThat(standIn.allocated()).isEmpty();
        }
    }
}
