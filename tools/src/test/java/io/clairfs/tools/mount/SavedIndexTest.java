package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The listing of a large source is kept for the next mount. */
@Timeout(600)
final class SavedIndexTest {
    private static final int DIRECTORIES = 4;
    private static final int FILES = 2_600;
    private static final FileTime LONG_AGO = FileTime.from(Instant.parse("2020-01-02T03:04:05Z"));

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static Path source;
    private Path cache;

    @BeforeEach
    void makeCache() throws IOException {
        cache = FIXTURE.newDirectory("cache");
    }

    @BeforeAll
    static void makeSource() throws IOException {
        source = FIXTURE.newDirectory("source");
        for (int d = 0; d < DIRECTORIES; d++) {
            Path directory = Files.createDirectory(source.resolve("d" + d));
            for (int f = 0; f < FILES; f++) {
                Files.writeString(directory.resolve("f" + f), "content " + f);
            }
            Files.setLastModifiedTime(directory, LONG_AGO);
        }
        Files.setLastModifiedTime(source, LONG_AGO);
    }

    private List<Path> kept() throws IOException {
        try (var files = Files.list(cache)) {
            return files.filter(file -> file.toString().endsWith(".index")).toList();
        }
    }

    private LiveMount mount(String... more) throws Exception {
        LiveMount mount = FIXTURE.mount(
                source,
                Stream.concat(Stream.of("--index-cache", cache.toString()), Arrays.stream(more))
                        .toArray(String[]::new));
        mount.awaitReady();
        return mount;
    }

    /** Which file the kept index is: a mount that keeps another listing writes another. */
    private Object keptFile() throws IOException {
        return Files.readAttributes(kept().getFirst(), BasicFileAttributes.class)
                .fileKey();
    }

    private void awaitKept() throws Exception {
        Waiting.until("the index is kept", () -> !kept().isEmpty());
    }

    // Promise C5
    @Test
    void keptIndex_showsTheTreeAsItIs_andAChangedFileIsAnErrorUntilTheNextMount() throws Exception {
        LiveMount first = mount();
        int files = first.status().at("/samples").asInt();
        assertThat(files).isGreaterThanOrEqualTo(DIRECTORIES * FILES);
        awaitKept();
        FIXTURE.clairfs("umount", first.point()).succeeded();

        Files.writeString(source.resolve("d1/new"), "new");
        Files.writeString(source.resolve("d2/f7"), "longer than it was");
        Object ofTheFirst = keptFile();
        LiveMount second = mount();
        Waiting.until(
                "the index is kept anew", () -> !keptFile().equals(ofTheFirst)); // later it might outlive the mount
        assertThat(second.status().at("/samples").asInt()).isEqualTo(files + 1);
        assertThat(second.point().resolve("d1/new")).hasContent("new");
        assertThat(second.point().resolve("d3/f2599")).hasContent("content 2599");
        assertThatThrownBy(() -> Files.readString(second.point().resolve("d2/f7")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Stale file handle");
        assertThat(second.lines("errors")).anyMatch(line -> line.contains("unmount and mount again"));
        Waiting.until("the kept index is gone", () -> kept().isEmpty());
        FIXTURE.clairfs("umount", second.point()).succeeded();

        LiveMount third = mount();
        assertThat(third.point().resolve("d2/f7")).hasContent("longer than it was");
    }

    // Promise C2, C5
    @Test
    void copyOnADisk_ofAFileThatWasRewrittenInPlace_isNotServed_thoughTheListingIsKept() throws Exception {
        Path ssd = FIXTURE.newDirectory("ssd");
        String[] disk = {"--ssd", ssd + ":64MiB", "--ssd-reserve", "1MiB", "--memory", "4KiB", "--index-rule", "sorted"
        };
        LiveMount first = mount(disk);
        awaitKept();
        first.job("seed=1 epochs=2 subset=d0");
        first.await(
                "on the disk",
                s -> s.path("tiers")
                        .valueStream()
                        .anyMatch(tier -> tier.path("name").asString().equals("ssd")
                                && tier.path("samples").asInt() == FILES));
        FIXTURE.clairfs("umount", first.point()).succeeded();

        String before = Files.readString(source.resolve("d0/f8"));
        Files.writeString(source.resolve("d0/f8"), "another content");
        LiveMount second = mount(disk);
        second.await(
                "found on the disk",
                s -> s.path("tiers")
                        .valueStream()
                        .anyMatch(tier -> tier.path("name").asString().equals("ssd")
                                && tier.path("samples").asInt() == FILES));
        assertThat(second.point().resolve("d0/f9")).hasContent("content 9");
        assertThat(second.status().at("/fetched/ssd/count").asInt())
                .as("one that is as it was comes from the disk")
                .isEqualTo(1);
        assertThatThrownBy(() -> Files.readString(second.point().resolve("d0/f8")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Stale file handle");
        assertThat(second.lines("errors")).anyMatch(line -> line.contains("unmount and mount again"));
        FIXTURE.clairfs("umount", second.point()).succeeded();

        LiveMount third = mount(disk);
        assertThat(third.point().resolve("d0/f8")).hasContent("another content");
        FIXTURE.clairfs("umount", third.point()).succeeded();
        Files.writeString(source.resolve("d0/f8"), before);
    }

    @Test
    void trustedIndex_isNotComparedWithTheSource() throws Exception {
        LiveMount first = mount();
        int files = first.status().at("/samples").asInt();
        awaitKept();
        FIXTURE.clairfs("umount", first.point()).succeeded();
        Files.writeString(source.resolve("d3/other"), "new");
        LiveMount trusting = mount("--trust-index");
        assertThat(trusting.status().at("/samples").asInt()).isEqualTo(files);
        assertThat(trusting.point().resolve("d1/f1")).hasContent("content 1");
    }
}
