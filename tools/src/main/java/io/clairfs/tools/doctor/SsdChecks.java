package io.clairfs.tools.doctor;

import io.clairfs.cache.tier.ssd.SsdTier;
import io.clairfs.fs.mount.MountTable.Mount;
import io.clairfs.tools.node.config.SsdConfig;
import io.clairfs.tools.node.status.StatusText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/** The directories of {@code --ssd}: their room, whether they are local, their speed. */
final class SsdChecks implements Check {
    private static final String NAME = "ssd";
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MEGA = 1e6;

    /** Not larger than a writer's usual load of some seconds, so that it disturbs nobody. */
    private static final int WRITTEN = 32 << 20;

    private static final int PIECE = 4 << 20;
    private static final Set<String> NOT_LOCAL =
            Set.of("nfs", "nfs4", "lustre", "gpfs", "beegfs", "ceph", "cifs", "smb3", "9p", "wekafs", "panfs");
    private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");

    @Override
    public List<Finding> look(Examined examined) {
        List<Finding> found = new ArrayList<>();
        for (SsdConfig ssd : examined.wanted().ssds()) {
            found.add(look(examined, ssd));
        }
        return found;
    }

    private static Finding look(Examined examined, SsdConfig ssd) {
        Path directory = ssd.directory();
        Path there = Files.exists(directory) ? directory : parentOf(directory); // mount makes the last one alone
        if (!Files.exists(there)) {
            return Finding.problem(
                    NAME, directory + " cannot be made: " + there + " does not exist", "mkdir -p " + there);
        }
        if (!Files.isDirectory(there)) {
            return Finding.problem(NAME, there + " is not a directory", "another directory for --ssd");
        }
        Path probe;
        try {
            probe = Files.createTempFile(there, ".clairfs-doctor-", "");
        } catch (IOException e) {
            return Finding.problem(
                    NAME,
                    there + " cannot be written ("
                            + (e instanceof AccessDeniedException ? "permission denied" : e.getMessage())
                            + "), so nothing is kept there",
                    "chown it, or another directory for --ssd");
        }
        try {
            long free = Files.getFileStore(there).getUsableSpace();
            long more = Math.max(0, free - examined.wanted().ssdReserveBytes());
            long room = more + left(examined, directory);
            if (room < ssd.bytes() && examined.running() == null) {
                return Finding.problem(
                        NAME,
                        directory + " has room for " + StatusText.size(room) + " beside --ssd-reserve, not for "
                                + StatusText.size(ssd.bytes()),
                        room < WRITTEN ? "free space there" : "--ssd " + directory + ":" + (room >> 20) + "MiB");
            }
            String type = MountPointChecks.Mounts.of(examined.machine(), there)
                    .map(Mount::type)
                    .orElse("");
            if (NOT_LOCAL.contains(type)) {
                return Finding.problem(
                        NAME,
                        directory + " is on " + type + ", a network filesystem and no faster than the source",
                        "a directory on a local disk for --ssd");
            }
            if (IN_MEMORY.contains(type)) {
                return Finding.note(
                        NAME, directory + " is on " + type + ", so it takes memory", "a larger --memory in its place");
            }
            return free < 2L * WRITTEN ? Finding.ok(NAME, directory + " is full") : speed(examined, directory, probe);
        } catch (IOException e) {
            return Finding.problem(NAME, directory + ": " + e.getMessage(), "another directory for --ssd");
        } finally {
            delete(probe);
        }
    }

    private static Path parentOf(Path directory) {
        Path parent = directory.getParent();
        return parent == null ? directory : parent;
    }

    /** What earlier mounts of this source have left there: a mount counts it within the size that {@code --ssd} gives. */
    private static long left(Examined examined, Path directory) {
        Path source = examined.wanted().source();
        return source == null ? 0 : SsdTier.bytesLeft(directory, source.toString());
    }

    private static Finding speed(Examined examined, Path directory, Path probe) throws IOException {
        double rate = writtenPerSecond(probe);
        SourceSurvey survey = examined.survey();
        String is = String.format("%s takes %,.0f MB/s", directory, rate / MEGA);
        return survey != null && isRemote(examined) && rate < survey.bytesPerSecond() / 2
                ? Finding.note(
                        NAME,
                        is + String.format(", less than the %,.0f MB/s of the source", survey.bytesPerSecond() / MEGA),
                        "leave --ssd away unless others share the source")
                : Finding.ok(NAME, is);
    }

    /** Whether the source is far away; one on a local disk is read from the page cache at any rate. */
    private static boolean isRemote(Examined examined) {
        Path source = examined.wanted().source();
        return source != null
                && MountPointChecks.Mounts.of(examined.machine(), source)
                        .filter(mount ->
                                NOT_LOCAL.contains(mount.type()) || mount.type().startsWith("fuse."))
                        .isPresent();
    }

    private static double writtenPerSecond(Path probe) throws IOException {
        byte[] random = new byte[PIECE];
        ThreadLocalRandom.current().nextBytes(random);
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE).put(random);
        long start = System.nanoTime();
        try (FileChannel out = FileChannel.open(probe, StandardOpenOption.WRITE)) {
            for (int written = 0; written < WRITTEN; written += PIECE) {
                piece.rewind();
                while (piece.hasRemaining()) {
                    out.write(piece);
                }
            }
            out.force(true);
        }
        return WRITTEN * NANOS_PER_SECOND / Math.max(1, System.nanoTime() - start);
    }

    private static void delete(Path probe) {
        try {
            Files.deleteIfExists(probe);
        } catch (IOException e) {
            assert e != null : "the disk has failed meanwhile, and the finding says so";
        }
    }
}
