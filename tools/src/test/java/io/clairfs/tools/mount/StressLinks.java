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
 * Links that no daemon may follow: in place of a listed file or directory of the source, of an SSD's segment, of a log. The target of a
 * link in the source looks like the original with other bytes. Targets must not change.
 */
final class StressLinks {
    private static final String DIRECTORY = "links/d";
    private static final int FILES = 4;
    private static final int VICTIM_BYTES = 50_000;

    /**
     * The source is a FUSE filesystem: where a file or directory has become something else, the kernel itself answers EIO to who holds it or is on the way
     * through it (Linux, {@code fuse_do_getattr}: the inode of another type is marked as bad).
     */
    private static final Set<Integer> ALLOWED = Set.of(Errno.ESTALE, Errno.ENOENT, Errno.EIO);

    private final Path dataset;
    private final Path outside;
    private final StressFaults faults;
    private final StressDeck<Boolean> wholeDirectory;
    private final Random random;
    private final byte[] secret = new byte[VICTIM_BYTES];
    private final Path victim;
    private @Nullable Planted planted;

    /** A planted link, the original that was moved aside, and the period. */
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

    /** Files of the source that become links at times. They have no other faults. */
    List<String> paths() {
        List<String> paths = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            paths.add("links/" + i + ".bin");
            paths.add(DIRECTORY + "/" + i + ".bin");
        }
        return paths;
    }

    /** The file that no daemon may read or change. */
    Path victim() {
        return victim;
    }

    /** Puts a link in place of a file or directory of the source. */
    void plant() throws IOException {
        remove();
        boolean isDirectory = wholeDirectory.next();
        String path = isDirectory ? DIRECTORY : "links/" + random.nextInt(FILES) + ".bin";
        Path link = dataset.resolve(path);
        Path lure = Files.createTempDirectory(outside, "lure").resolve("lure");
        copyWithOtherBytes(link, lure);
        StressFaults.Period period = faults.begin(path, ALLOWED);
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

    /** Restores what the planted link replaced. */
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

    /** Whether the file that no daemon may change is unchanged. */
    boolean untouched() throws IOException {
        return Files.isRegularFile(victim, LinkOption.NOFOLLOW_LINKS)
                && java.util.Arrays.equals(Files.readAllBytes(victim), secret);
    }
}
