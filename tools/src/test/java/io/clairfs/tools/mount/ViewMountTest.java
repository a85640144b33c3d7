package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.gpufeeder.view.ViewSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Mounts with {@code --view} over images of many kinds, against Pillow. {@code -Dclairfs.decode.images=840} takes more than the usual number, 504 of
 * them JPEG.
 */
@Timeout(600)
final class ViewMountTest {
    private static final int IMAGES = Integer.getInteger("clairfs.decode.images", 75);
    private static final int DIRECTORIES = 3;
    private static final Path GENERATOR = Path.of("../gpu-feeder/src/test/resources/decode/pillow_images.py");
    private static final FileTime LONG_AGO = FileTime.from(Instant.parse("2020-01-02T03:04:05Z"));
    private static final JsonMapper JSON = new JsonMapper();

    /** Files without Huffman tables, as of cameras; the JDK knows no tables to take instead. */
    private static final String WITHOUT_TABLES = "notables.jpg";

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    /** Images of many kinds, and files that are none, in directories of classes. */
    private static Path source;

    /** How many of the images can be decoded. */
    private static int whole;

    private static final List<String> DAMAGED = new ArrayList<>();
    private static final List<String> SHOWN_AS_THEY_ARE =
            List.of("class0/empty.jpg", "class0/text.jpg", "classes.txt", "labels.json");
    private Path cache;

    @BeforeAll
    static void makeImages() throws Exception {
        Requirements.torch();
        Path made = FIXTURE.newDirectory("made");
        List<String> lines = FIXTURE.python(Files.readString(GENERATOR), "make", made, IMAGES)
                .lines()
                .toList();
        source = FIXTURE.newDirectory("source");
        for (int i = 0; i < DIRECTORIES; i++) {
            Files.createDirectory(source.resolve("class" + i));
        }
        boolean jdk = ViewSpec.parse("decode").open().identity().contains("jpeg=jdk/");
        for (int i = 0; i < lines.size(); i++) {
            String[] words = lines.get(i).split(" ", -1);
            boolean damaged = words[1].equals("0");
            if (jdk && words[0].endsWith(WITHOUT_TABLES)) {
                continue;
            }
            String name = "class" + (damaged ? 0 : i % DIRECTORIES) + "/" + words[0];
            Files.move(made.resolve(words[0]), source.resolve(name));
            whole += damaged ? 0 : 1;
            if (damaged && !SHOWN_AS_THEY_ARE.contains(name)) {
                DAMAGED.add(name);
            }
        }
        Files.writeString(source.resolve("classes.txt"), "cat\ndog\n");
        Files.writeString(source.resolve("labels.json"), "{}");
        settle();
        assertThat(DAMAGED).hasSize(7);
    }

    /** As if nothing had changed for long: a directory that has just changed is listed again at the next mount. */
    private static void settle() throws IOException {
        for (int i = 0; i < DIRECTORIES; i++) {
            Files.setLastModifiedTime(source.resolve("class" + i), LONG_AGO);
        }
        Files.setLastModifiedTime(source, LONG_AGO);
    }

    @BeforeEach
    void makeCache() throws IOException {
        cache = FIXTURE.newDirectory("cache");
    }

    private LiveMount mount(String... options) throws Exception {
        List<String> all = new ArrayList<>(List.of("--index-cache", cache.toString()));
        all.addAll(Arrays.asList(options));
        LiveMount mount = FIXTURE.mount(source, all.toArray(String[]::new));
        mount.awaitReady();
        return mount;
    }

    private static void umount(LiveMount mount) throws Exception {
        FIXTURE.clairfs("umount", mount.point()).succeeded();
    }

    private void assertShowsImages(LiveMount mount, int shorter) throws Exception {
        String said = FIXTURE.python("view_compare.py", mount.point(), source, shorter);
        System.out.println(
                "ViewMountTest: " + mount.status().at("/view/identity").asString() + ": " + said);
        JsonNode result = JSON.readTree(said);
        assertThat(result.path("wrong").valueStream()).isEmpty();
        assertThat(texts(result.path("failed"))).containsExactlyInAnyOrderElementsOf(DAMAGED);
        assertThat(texts(result.path("raw"))).containsExactlyInAnyOrderElementsOf(SHOWN_AS_THEY_ARE);
        assertThat(result.path("images").asInt()).isEqualTo(whole);
        assertThat(result.path("worst_mean").asDouble()).isLessThan(1);
    }

    private static List<String> texts(JsonNode array) {
        return array.valueStream().map(JsonNode::asString).toList();
    }

    // Promise V1
    // Promise V2
    // Promise V4
    @ParameterizedTest
    @CsvSource("decode, 0")
    void everyFileHasItsSizeBeforeItIsRead_andThePixelsOfPillow(String view, int shorter) throws Exception {
        LiveMount mount = mount("--view", view);
        assertShowsImages(mount, shorter);
        List<String> errors = mount.lines("errors");
        for (String damaged : DAMAGED) {
            assertThat(errors).anyMatch(line -> line.contains("read /" + damaged + ": "));
        }
        assertThat(mount.status().at("/view/made").asInt()).isEqualTo(whole);
        assertThat(mount.status().at("/fetched/source/bytes").asLong())
                .as("each file of which something is shown was read once")
                .isEqualTo(readableBytes());
    }

    @Tag("exhaustive")
    @ParameterizedTest
    @CsvSource({"npy:shorter=33, 33", "'decode,shorter=48', 48", "npy, 0"})
    void everyFileOfFurtherViews_hasItsSizeBeforeItIsRead_andThePixelsOfPillow(String view, int shorter)
            throws Exception {
        everyFileHasItsSizeBeforeItIsRead_andThePixelsOfPillow(view, shorter);
    }

    private static long readableBytes() throws IOException {
        long bytes = 0;
        try (var files = Files.walk(source)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                bytes += DAMAGED.contains(source.relativize(file).toString()) ? 0 : Files.size(file);
            }
        }
        return bytes;
    }

    // Promise V1
    @Test
    void arraysOfOneSize_areWhatTheFeederMakes() throws Exception {
        LiveMount mount = mount("--view", "npy:image,size=40,layout=nhwc,resize=44");
        String said = FIXTURE.python("""
                import os, sys
                import numpy as np
                from PIL import Image
                from torchvision.transforms import CenterCrop, Resize
                mount, source = sys.argv[1:]
                worst = 0
                for name in sorted(os.listdir(source + '/class1')):
                    shown = np.load(f'{mount}/class1/{name}')
                    image = Image.open(f'{source}/class1/{name}').convert('RGB')
                    wanted = np.asarray(CenterCrop(40)(Resize(44)(image))).astype(int)
                    assert shown.shape == (40, 40, 3) and shown.dtype == np.uint8, name
                    worst = max(worst, np.abs(shown - wanted).mean())
                print(worst)
                """, mount.point(), source);
        assertThat(Double.parseDouble(said.strip())).isLessThan(1);
    }

    // Promise V3
    @Test
    void secondMount_readsNoHeaderAgain_butOfFilesThatChanged() throws Exception {
        LiveMount first = mount("--view", "decode");
        int files = first.status().path("samples").asInt();
        assertThat(first.status().at("/view/headers_read").asInt()).isGreaterThanOrEqualTo(whole + DAMAGED.size());
        assertThat(files).isPositive();
        awaitKept();
        umount(first);

        LiveMount second = mount("--view", "decode");
        assertThat(second.status().at("/view/headers_read").asInt()).isZero();
        assertShowsImages(second, 0);
        umount(second);

        LiveMount other = mount("--view", "decode,shorter=40");
        assertShowsImages(other, 40);
        umount(other);

        Path more = source.resolve("class1/more.png");
        Files.copy(source.resolve(anImage(".png")), more);
        try {
            LiveMount third = mount("--view", "decode");
            assertThat(third.status().at("/view/headers_read").asInt())
                    .as("the new file, and those of which nothing can be made")
                    .isLessThanOrEqualTo(1 + DAMAGED.size());
            assertThat(Files.size(third.point().resolve("class1/more.png")))
                    .isEqualTo(Files.size(third.point().resolve(anImage(".png"))));
        } finally {
            Files.delete(more);
            settle();
        }
    }

    private void awaitKept() throws Exception {
        Waiting.until("the index is kept", () -> {
            try (var files = Files.list(cache)) {
                return files.anyMatch(file -> file.toString().endsWith(".index"));
            }
        });
    }

    private static String anImage(String end) throws IOException {
        try (var files = Files.list(source.resolve("class1"))) {
            return files.map(file -> "class1/" + file.getFileName())
                    .filter(name -> name.endsWith(end))
                    .sorted()
                    .findFirst()
                    .orElseThrow();
        }
    }

    // Promise V5
    @Test
    void anotherViewOverTheSameDisk_isNeverGivenTheSamplesOfThisOne() throws Exception {
        String[] disk = {"--memory", "1MiB", "--ssd", FIXTURE.newDirectory("ssd") + ":500MB", "--ssd-reserve", "1MiB"};
        LiveMount decoded = mount(with(disk, "--view", "decode"));
        decoded.job("seed=1 epochs=1 batch=8");
        int kept = decoded.await("on the disk", s -> s.at("/tiers/1/samples").asInt() >= whole / 2)
                .at("/tiers/1/samples")
                .asInt();
        assertThat(kept).isPositive();
        umount(decoded);

        LiveMount resized = mount(with(disk, "--view", "decode,shorter=48"));
        assertShowsImages(resized, 48);
        umount(resized);

        LiveMount raw = mount(disk);
        assertThat(raw.status().at("/view/identity").asString()).isEqualTo("raw");
        FIXTURE.python("""
                import os, sys
                mount, source = sys.argv[1:]
                for top, _, files in os.walk(source):
                    for name in files:
                        path = os.path.relpath(os.path.join(top, name), source)
                        assert open(f'{mount}/{path}', 'rb').read() == open(f'{source}/{path}', 'rb').read(), path
                """, raw.point(), source);
        umount(raw);

        LiveMount again = mount(with(disk, "--view", "decode"));
        again.await("recovered", s -> s.at("/tiers/1/samples").asInt() >= whole / 2);
        assertShowsImages(again, 0);
        assertThat(again.status().at("/fetched/ssd/count").asInt()).isPositive();
    }

    private static String[] with(String[] options, String... more) {
        List<String> all = new ArrayList<>(Arrays.asList(options));
        all.addAll(Arrays.asList(more));
        return all.toArray(String[]::new);
    }

    /** The same directories with nothing but the images that can be decoded. */
    private static Path copyOfWholeImages() throws IOException {
        Path images = FIXTURE.newDirectory("images");
        for (int i = 0; i < DIRECTORIES; i++) {
            String name = "class" + i;
            Files.createDirectory(images.resolve(name));
            try (var files = Files.list(source.resolve(name))) {
                for (Path file : files.toList()) {
                    String path = name + "/" + file.getFileName();
                    if (!SHOWN_AS_THEY_ARE.contains(path) && !DAMAGED.contains(path)) {
                        Files.copy(file, images.resolve(path));
                    }
                }
            }
        }
        return images;
    }

    // Promise V1
    @Tag("exhaustive")
    @Test
    void feeder_takesArraysOfOneSizeAsTheyAre() throws Exception {
        Path images = copyOfWholeImages();
        LiveMount mount = FIXTURE.mount(images, "--view", "npy:image,size=24", "--index-cache", cache.toString());
        mount.awaitReady();
        mount.job("name=fed seed=3 epochs=1 batch=8");
        List<String> command = new ArrayList<>(FIXTURE.pythonCommand("feed_trainer.py", mount.point(), images, """
                fed = 0
                with feed(job="fed", decode="npy", threads=2) as f:
                    assert f.shape == (3, 24, 24) and f.dtype == numpy.uint8
                    for batch, labels, indices in f:
                        for one, index in zip(batch, indices):
                            with open("%s/.clairfs/sample/fed/%d" % (mount, index)) as named:
                                path = named.read()[:-1]
                            assert (numpy.load(mount + "/" + path) == one).all(), path
                            fed += 1
                print(fed)
                """));
        command.addAll(Clairfs.command());
        assertThat(Ended.run(command, FIXTURE.environment()).succeeded().strip())
                .isEqualTo(String.valueOf(whole));
    }

    // Promise V1
    @Test
    void imageFolder_readsPixelsUnchanged() throws Exception {
        requirePixelsUnchanged("decode,shorter=40", 40, true);
    }

    @Tag("exhaustive")
    @Test
    void imageFolder_readsWholePixelsUnchanged_withoutAJob() throws Exception {
        requirePixelsUnchanged("decode", 0, false);
    }

    private void requirePixelsUnchanged(String view, int shorter, boolean job) throws Exception {
        Path images = copyOfWholeImages();
        LiveMount mount = FIXTURE.mount(images, "--view", view, "--index-cache", cache.toString());
        mount.awaitReady();
        if (job) {
            mount.job("seed=7 epochs=2 batch=8 workers=2");
        }
        String said = FIXTURE.python("view_training.py", mount.point(), images, 7, 2, shorter);
        System.out.println("ViewMountTest: ImageFolder over " + view + ": " + said);
        JsonNode result = JSON.readTree(said);
        assertThat(result.path("samples").asInt()).isEqualTo(2 * whole);
        assertThat(result.path("worst_mean").asDouble()).isLessThan(1);
        assertThat(mount.lines("errors")).isEmpty();
        JsonNode status = mount.status();
        assertThat(status.at("/view/made").asInt()).as("each made once").isEqualTo(whole);
        if (job) {
            JsonNode done = mount.await("read", s -> s.at("/jobs/0/done").asBoolean());
            assertThat(done.at("/jobs/0/in_sync").asBoolean()).isTrue();
            assertThat(done.at("/staging/pushed").asInt()).isPositive();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "jpeg | 'jpeg' is no view; known: raw, decode",
                "decode,shorter=0 | shorter=0 is out of range: 1 to 16384"
            })
    void wrongView_isRefusedInOneLine(String view, String said) throws Exception {
        assertThat(FIXTURE.clairfs("mount", source, FIXTURE.newDirectory("mnt"), "--view", view)
                        .complainedWith(2))
                .contains("--view: " + said);
    }

    // Promise V6
    @Test
    void fileThatChangedSinceItWasListed_isNotShown() throws Exception {
        Path images = FIXTURE.newDirectory("images");
        Path file = images.resolve("a.png");
        Files.copy(source.resolve(anImage(".png")), file);
        LiveMount mount = FIXTURE.mount(images, "--view", "decode", "--index-cache", "none");
        mount.awaitReady();
        FileTime time = Files.getLastModifiedTime(file);
        byte[] longer = Arrays.copyOf(Files.readAllBytes(file), (int) Files.size(file) + 1);
        Files.write(file, longer); // the same image, with a byte behind its end
        Files.setLastModifiedTime(file, time);
        assertThatThrownBy(() -> Files.readAllBytes(mount.point().resolve("a.png")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Stale file handle");
    }
}
