package io.clairfs.gpufeeder.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The calls to CUDA, against a library that stands in for the driver and refuses what a GPU would take wrongly. */
class DeviceRingTest {
    private static final int SLOTS = 3;
    private static final int SLOT_BYTES = 8192;

    @TempDir
    private Path directory;

    private StandInDriver driver;

    @BeforeEach
    void makeDriver() throws Exception {
        assumeTrue(
                StandInDriver.canBeMade(),
                "no /usr/bin/gcc: the library that stands in for a GPU's driver cannot be made");
        driver = StandInDriver.make(Files.createDirectory(directory.resolve("gpu")));
    }

    @Test
    void probe_findsTheDevice() throws Exception {
        assertThat(run(true, "", "probe"))
                .singleElement()
                .asString()
                .startsWith("Found[devices=[cuda:0 (stand-in, " + StandInDriver.IDENTITY + ")");
    }

    @Test
    void probe_withoutADriver_saysSo() throws Exception {
        List<String> said = run(false, "", "probe");
        assumeTrue(!said.getFirst().startsWith("Found"), "there is a GPU here");
        assertThat(said).singleElement().asString().startsWith("Missing[reason=");
    }

    @Test
    void probe_ofADriverThatFails_saysWhichCall() throws Exception {
        assertThat(run(true, "cuInit", "probe"))
                .containsExactly("Missing[reason=cuInit failed: CUDA_ERROR_NO_DEVICE (100)]");
    }

    @Test
    void copiesOfSlots_areInTheMemoryThatTheHandleNames() throws Exception {
        byte[] bytes = new byte[SLOTS * SLOT_BYTES];
        new Random(1).nextBytes(bytes);
        Path host = Files.write(directory.resolve("host"), bytes);
        Process process = start(true, "", "ring", "cuda:0", host.toString(), "" + SLOTS);
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            String[] said = output.readLine().split(" ");
            assertThat(said).startsWith(StandInDriver.IDENTITY, "" + SLOT_BYTES);
            byte[] handle = HexFormat.of().parseHex(said[2]);
            assertThat(handle).hasSize(MemoryHandle.BYTES);
            byte[] device = Files.readAllBytes(
                    driver.directory().resolve(new String(handle, StandardCharsets.US_ASCII).trim()));
            assertThat(device).hasSize(bytes.length);
            assertSameBytes(device, bytes, 0, SLOT_BYTES);
            Arrays.fill(bytes, SLOT_BYTES, SLOT_BYTES + Long.BYTES, (byte) 7);
            assertSameBytes(device, bytes, SLOT_BYTES, SLOT_BYTES);
            assertSameBytes(device, bytes, 2 * SLOT_BYTES, SLOT_BYTES);
            process.getOutputStream().close();
            assertThat(output.readLine()).isNull();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.waitFor()).isZero();
        assertThatNothingIsLeft();
    }

    @Test
    void ringThatCannotBeMade_saysWhy_andLeavesNothing() throws Exception {
        Path host = Files.write(directory.resolve("host"), new byte[SLOTS * SLOT_BYTES]);
        assertThat(run(true, "cuMemAlloc", "ring", "cuda", host.toString(), "" + SLOTS))
                .singleElement()
                .asString()
                .contains("no room for 3 slots of 8192 bytes: use fewer slots or smaller batches");
        assertThat(run(true, "cuMemHostRegister", "ring", "cuda", host.toString(), "" + SLOTS))
                .containsExactly("error: cuMemHostRegister failed: CUDA_ERROR_OUT_OF_MEMORY (2)");
        assertThat(run(true, "", "ring", "cuda:3", host.toString(), "" + SLOTS))
                .singleElement()
                .asString()
                .startsWith("error: no device 'cuda:3' here: there are [cuda:0 (stand-in");
        assertThatNothingIsLeft();
    }

    private static void assertSameBytes(byte[] actual, byte[] expected, int from, int bytes) {
        assertThat(Arrays.equals(actual, from, from + bytes, expected, from, from + bytes))
                .as("bytes from %d on", from)
                .isTrue();
    }

    private void assertThatNothingIsLeft() throws IOException {
        assertThat(driver.left()).isEmpty();
        assertThat(driver.allocated()).isEmpty();
        try (var files = Files.list(directory)) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactlyInAnyOrder("gpu", "host");
        }
    }

    private List<String> run(boolean withDriver, String fails, String... arguments) throws Exception {
        Process process = start(withDriver, fails, arguments);
        process.getOutputStream().close();
        List<String> said = process.inputReader(StandardCharsets.UTF_8).lines().toList();
        assertThat(process.waitFor()).isZero();
        return said;
    }

    private Process start(boolean withDriver, String fails, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir=" + directory,
                "-cp",
                System.getProperty("java.class.path"),
                DeviceProgram.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (withDriver) {
            builder.environment().putAll(driver.environment(fails));
        }
        return builder.start();
    }
}
