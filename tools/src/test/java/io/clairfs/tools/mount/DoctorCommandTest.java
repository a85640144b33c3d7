package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.node.limits.MachineMemory;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code clairfs doctor} on this machine, which is a good one for tests of mounts, and with real faults on it. */
@Timeout(600)
final class DoctorCommandTest {
    private static final String SECRET = "never-to-be-seen-4711-0815";

    /** What a kernel with lru_gen has to have free, and some more. */
    private static final long FREE_BYTES = 5L << 30;

    /** Enough for the speed of the source to be measured on a busy machine, too. */
    private static final int FILES = 24;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path source() throws IOException {
        Path source = fixture.newDirectory("source");
        for (int i = 0; i < FILES; i++) {
            Path directory = Files.createDirectories(source.resolve(i % 2 == 0 ? "a" : "b"));
            Files.write(directory.resolve(i + ".jpg"), new byte[10_000]);
        }
        return source;
    }

    @Test
    void good_machine_is_one_line_before_and_during_a_mount() throws Exception {
        Requirements.cachedPages();
        Requirements.memory(2 * FREE_BYTES);
        Path source = source();
        Path point = fixture.newDirectory("point");
        Path disk = fixture.newDirectory("disk");
        assertThat(undisturbed("doctor").succeeded()).matches("all is well: [0-9]+ checks, nothing to do\n");
        Object[] arguments = {"doctor", source, point, "--memory", "64MiB", "--ssd", disk + ":64MiB"};
        assertThat(undisturbed(arguments).succeeded()).startsWith("all is well: ");
        assertThat(disk).isEmptyDirectory();

        LiveMount mount = fixture.mountAt(point, source, "--memory", "64MiB", "--ssd", disk + ":64MiB");
        mount.awaitReady();
        assertThat(undisturbed("doctor", point).succeeded()).startsWith("all is well: ");
        assertThat(undisturbed("doctor", source, point, "--verbose").succeeded())
                .contains("daemon       process " + mount.pid() + " answers")
                .contains(FILES + " samples")
                .contains(disk + " takes ");
    }

    /** Runs a command while no other test on this machine holds inotify or memory short. */
    private Ended undisturbed(Object... arguments) throws Exception {
        while (true) {
            if (isWell()) {
                Ended ended = fixture.clairfs(arguments);
                if (isWell()) {
                    return ended;
                }
            }
            Thread.sleep(100);
        }
    }

    private static boolean isWell() throws IOException {
        return setting(KernelSetting.INSTANCES) > 100
                && setting(KernelSetting.WATCHES) > 1000
                && MachineMemory.now().availableBytes() > FREE_BYTES;
    }

    private static long setting(String name) throws IOException {
        try (BufferedReader value = Files.newBufferedReader(Path.of("/proc/sys", name))) {
            return Long.parseLong(value.readLine());
        }
    }

    @Test
    void real_faults_are_problems_with_a_remedy() throws Exception {
        Path source = source();
        Path point = fixture.newDirectory("point");
        assertThat(problem(Map.of("PATH", "/nowhere"), "doctor", source, point))
                .contains("fusermount")
                .contains("install fuse");
        Files.writeString(point.resolve("file"), "");
        assertThat(problem(Map.of(), "doctor", source, point)).contains("is not empty");
        Files.delete(point.resolve("file"));
        assertThat(problem(Map.of(), "doctor", source.resolve("none"), point)).contains("none does not exist");
        try (SmallDisk disk = SmallDisk.mount(fixture, 2 << 20)) {
            assertThat(problem(
                            Map.of(),
                            "doctor",
                            source,
                            point,
                            "--ssd-reserve",
                            "1MiB",
                            "--ssd",
                            disk.path() + ":64MiB"))
                    .contains(disk.path() + " has room for")
                    .contains("not for 64.0 MiB");
        }
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(problem(Map.of(), "doctor", source, point, "--metrics", "127.0.0.1:" + taken.getLocalPort()))
                    .contains("port " + taken.getLocalPort());
        }
        assertThat(problem(Map.of(), "doctor", source, point, "--memory", "900TiB"))
                .contains("does not fit");
        assertThat(fixture.clairfs("doctor", source).complainedWith(2))
                .contains("before a mount give both: clairfs doctor SOURCE");
    }

    /** Alone: whatever is mounted meanwhile has no watches either. */
    @Test
    @Tag("alone")
    void few_watches_are_named_with_the_number_of_directories() throws Exception {
        Path source = source();
        try (KernelSetting few = KernelSetting.set(KernelSetting.WATCHES, 2)) {
            assertThat(few).isNotNull();
            assertThat(problem(Map.of(), "doctor", source, fixture.newDirectory("point")))
                    .contains("inotify allows 2 and the source has 3 directories");
        }
    }

    /** The only problem, as JSON; its check, what it is and the remedy. */
    private String problem(Map<String, String> environment, Object... arguments) throws Exception {
        Object[] all = java.util.Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = "--json";
        String[] texts = java.util.Arrays.stream(all).map(String::valueOf).toArray(String[]::new);
        Map<String, String> variables = new TreeMap<>(fixture.environment());
        variables.putAll(environment);
        Ended ended = Ended.run(Clairfs.command(texts), variables);
        assertThat(ended.exit()).as("%s", ended).isEqualTo(1);
        JsonNode answer = new JsonMapper().readTree(ended.out());
        assertThat(answer.path("well").asBoolean()).isFalse();
        StringBuilder problems = new StringBuilder();
        for (JsonNode finding : answer.path("findings")) {
            if (finding.path("verdict").asString().equals("problem")
                    && !finding.path("what").asString().contains("queues of this user")) { // another test's setting
                problems.append(finding).append('\n');
                assertThat(finding.path("remedy").asString("")).isNotEmpty();
            }
        }
        return problems.toString();
    }

    @Test
    void bundle_has_what_a_report_needs() throws Exception {
        LiveMount mount = fixture.mount(source());
        mount.awaitReady();
        Waiting.until("the log says what is served", () -> fixture.logs().contains(" serves "));
        Path bundle = fixture.directory().resolve("bundle.zip");
        fixture.clairfs("doctor", mount.point(), "--bundle", bundle).succeeded();
        Map<String, String> texts = texts(bundle);
        assertThat(texts.get("clairfs/threads")).contains("watchdog:").contains("detach-watcher:");
        assertThat(texts.get("clairfs/mount.log")).contains(" INFO  Daemon: clairfs ");
        assertThat(texts.get("clairfs/metrics")).contains("clairfs_ready 1.0");
        assertThat(texts.get("clairfs/status.json")).contains("\"pid\"");
        assertThat(texts.get("clairfs/options.txt")).contains(mount.point().toString());
        assertThat(texts.get("clairfs/doctor.txt")).contains("daemon ");
        assertThat(texts.get("clairfs/machine.txt")).contains("Linux version").contains("MemTotal");
        assertThat(Files.getPosixFilePermissions(bundle, LinkOption.NOFOLLOW_LINKS))
                .isEqualTo(PosixFilePermissions.fromString("rw-------"));
        assertThat(fixture.clairfs("doctor", mount.point(), "--bundle", bundle).err())
                .contains("exists");
    }

    @Test
    void daemon_that_hangs_is_a_problem_and_named_with_the_way_out() throws Exception {
        LiveMount mount = fixture.mount(source());
        mount.awaitReady();
        long pid = mount.pid();
        Ended.run(List.of("sh", "-c", "kill -STOP " + pid), Map.of()).succeeded();
        try {
            assertThat(problem(Map.of(), "doctor", mount.point()))
                    .contains("did not answer within 15 s")
                    .contains("clairfs umount " + mount.point());
        } finally {
            Ended.run(List.of("sh", "-c", "kill -CONT " + pid), Map.of()).succeeded();
        }
    }

    // Promise P12
    @Test
    void secret_of_the_group_is_never_in_the_bundle() throws Exception {
        Path secret = Files.writeString(fixture.directory().resolve("secret"), SECRET + "\n");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        Path config = Files.writeString(
                fixture.directory().resolve("config.yaml"),
                "# " + SECRET + "\nmount:\n  secret-file: " + secret + "\n  memory: 32MiB\n");
        LiveMount mount =
                fixture.mount(source(), "--bind", "127.0.0.1:" + TestPorts.free(2), "--config", config.toString());
        mount.awaitReady();
        Files.writeString(mount.control("note"), "the secret is " + SECRET + ", and more\n");
        assertThat(mount.read("status")).contains(SECRET);

        Path bundle = fixture.directory().resolve("bundle.zip");
        Ended ended = fixture.clairfs("doctor", mount.point(), "--bundle", bundle, "--verbose");
        assertThat(ended.out() + ended.err()).doesNotContain(SECRET);
        Map<String, String> texts = texts(bundle);
        assertThat(texts.get("clairfs/status")).contains("the secret is [secret], and more");
        assertThat(texts.get("clairfs/config.yaml")).contains("memory: 32MiB").contains("# [secret]");
        assertThat(texts).allSatisfy((name, text) -> assertThat(text).as(name).doesNotContain(SECRET));
    }

    private static Map<String, String> texts(Path bundle) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        try (ZipFile zip = new ZipFile(bundle.toFile())) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                texts.put(entry.getName(), new String(zip.getInputStream(entry).readAllBytes(), UTF_8));
            }
        }
        return texts;
    }
}
