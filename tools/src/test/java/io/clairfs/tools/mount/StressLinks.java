package io.clairfs.tools.mount;

import io.clairfs.cache.posix.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Links that lead where nobody should follow: in place of a listed file or directory of the source, of an SSD's segment, of a log. What they lead to
 * looks like what was there, and has other bytes; it must stay as it is.
 */
final class StressLinks {
    private static final String DIRECTORY = "links/d";
    private static final int FILES = 4;
    private static final int VICTIM_BYTES = 50_000;

    private final Path dataset;
    private final Path outside;
    private final StressFaults faults;
    private final StressDeck<Boolean> wholeDirectory;
    private final Random random;
    private final byte[] secret = new byte[VICTIM_BYTES];
    private final Path victim;
    private @Nullable Planted planted;

    /** Where a link is instead of what lies aside, since when. */
    private record Planted(Path link, Path aside, StressFaults.Period period) {}

    StressLinks(MountFixture fixture, Path dataset, StressFaults faults, long seed) throws IOException {
        this.dataset = dataset;
        this.faults = faults;
        random = new Random(seed);
        wholeDirectory = new StressDeck<>(random, List.of(true, false));
        outside = fixture.newDirectory("outside");
        random.nextBytes(secret);
        victim = Files.write(outside.resolve("victim"), secret);
    }

    /** Files of the source that become links now and then, and nothing else ever happens to. */
    List<String> paths() {
        List<String> paths = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            paths.add("links/" + i + ".bin");
            paths.add(DIRECTORY + "/" + i + ".bin");
        }
        return paths;
    }

    /** What no daemon may read or change. */
    Path victim() {
        return victim;
    }

    /** Puts a link in place of a file or directory of the source. */
    void plant() throws IOException {
        remove();
        String path = wholeDirectory.next() ? DIRECTORY : "links/" + random.nextInt(FILES) + ".bin";
        Path link = dataset.resolve(path);
        Path lure = Files.createTempDirectory(outside, "lure").resolve("lure");
        copyWithOtherBytes(link, lure);
        StressFaults.Period period = faults.begin(path, Set.of(Errno.ESTALE, Errno.ENOENT));
        Path aside = outside.resolve("aside");
        planted = new Planted(link, aside, period);
        Files.move(link, aside);
        Files.createSymbolicLink(link, lure);
    }

    private void copyWithOtherBytes(Path from, Path to) throws IOException {
        FileTime time = Files.getLastModifiedTime(from);
        if (Files.isDirectory(from)) {
            Files.createDirectory(to);
            try (Stream<Path> all = Files.list(from)) {
                for (Path each : all.toList()) {
                    copyWithOtherBytes(each, to.resolve(each.getFileName()));
                }
            }
        } else {
            byte[] other = new byte[(int) Files.size(from)];
            random.nextBytes(other);
            Files.write(to, other);
        }
        Files.setLastModifiedTime(to, time);
    }

    /** Everything is at its place again. */
    void remove() throws IOException {
        Planted last = planted;
        if (last != null) {
            Files.deleteIfExists(last.link());
            Files.move(last.aside(), last.link());
            faults.end(last.period());
            planted = null;
        }
    }

    /** Puts a link in place of a file that a daemon writes. */
    void plantAt(Path file) throws IOException {
        Files.deleteIfExists(file);
        Files.createSymbolicLink(file, victim);
    }

    /** Whether what the links lead to is as it was. */
    boolean untouched() throws IOException {
        return Files.isRegularFile(victim, LinkOption.NOFOLLOW_LINKS)
                && java.util.Arrays.equals(Files.readAllBytes(victim), secret);
    }
}
