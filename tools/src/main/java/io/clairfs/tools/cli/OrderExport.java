package io.clairfs.tools.cli;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderFile;
import io.clairfs.cache.order.Sampler;
import io.clairfs.tools.Progress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Writes the orders of several epochs as files of little-endian signed 64-bit numbers, one for each rank. A file appears under its name when it
 * is whole. After a failure a second run writes all of them again.
 */
final class OrderExport implements AutoCloseable {
    private static final long MOST_FILES = 10_000_000;
    private static final long QUIET_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int CHUNK = 1 << 16;
    private static final String EPOCH = "{epoch}";
    private static final String RANK = "{rank}";
    private static final Pattern PLACE = Pattern.compile("\\{[^/{}]*}");

    private final String template;
    private final Span epochs;
    private final Span ranks;
    private final ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK).order(ByteOrder.LITTLE_ENDIAN);
    private final long beganNs = System.nanoTime();
    private @Nullable Progress progress;
    private long files;
    private long bytes;
    private volatile @Nullable Path writing;

    /** Epochs, or ranks, from {@code first} to {@code last}. */
    record Span(int first, int last) {
        private static final Pattern TEXT = Pattern.compile("([0-9]{1,9})(?:-([0-9]{1,9}))?");

        /** Reads {@code 7} or {@code 0-89}. */
        static Span parse(String text) throws InvalidSpecException {
            Matcher match = TEXT.matcher(text);
            if (!match.matches()) {
                throw new InvalidSpecException(
                        "--epochs " + text + " is neither a number like 7 nor a range like 0-89");
            }
            int first = Integer.parseInt(match.group(1));
            int last = match.group(2) == null ? first : Integer.parseInt(match.group(2));
            if (last < first) {
                throw new InvalidSpecException("--epochs " + text + " runs backwards");
            }
            return new Span(first, last);
        }

        long count() {
            return (long) last - first + 1;
        }
    }

    /**
     * An export of these epochs and ranks.
     *
     * @throws InvalidSpecException when the template does not give each order a file of its own
     */
    OrderExport(String template, Span epochs, Span ranks) throws InvalidSpecException {
        this.template = template;
        this.epochs = epochs;
        this.ranks = ranks;
        Matcher places = PLACE.matcher(template);
        while (places.find()) {
            if (!places.group().equals(EPOCH) && !places.group().equals(RANK)) {
                throw new InvalidSpecException("--out has " + places.group() + ": only {epoch} and {rank} are known");
            }
        }
        require(EPOCH, epochs, "epochs");
        require(RANK, ranks, "ranks");
        if (template.endsWith("/") || Files.isDirectory(Path.of(template))) {
            throw new InvalidSpecException("--out names a directory: give the name of the files too, such as "
                    + Path.of(template, "{epoch}/{rank}.i64"));
        }
        if (epochs.count() > MOST_FILES / ranks.count()) {
            throw new InvalidSpecException(epochs.count() + " epochs of " + ranks.count() + " ranks are more than "
                    + MOST_FILES + " files: give fewer at a time");
        }
    }

    private void require(String place, Span span, String what) throws InvalidSpecException {
        if (span.count() > 1 && !template.contains(place)) {
            throw new InvalidSpecException("--out has no " + place + ", but there are " + span.count() + " " + what
                    + " with a file each: give a name such as DIR/{epoch}/{rank}.i64");
        }
    }

    /** Writes all files. Returns what was written, for people. A file that is not whole when the user ends this is removed. */
    String write(Sampler sampler) throws InvalidSpecException, CommandFailedException {
        Thread removal = new Thread(this::removePart);
        Runtime.getRuntime().addShutdownHook(removal);
        try {
            return writeAll(sampler);
        } finally {
            Runtime.getRuntime().removeShutdownHook(removal);
        }
    }

    private void removePart() {
        Path part = writing;
        try {
            if (part != null) {
                Files.deleteIfExists(part);
            }
        } catch (IOException e) {
            System.err.println("clairfs: " + part + " is not whole and could not be removed: " + e.getMessage());
        }
    }

    private String writeAll(Sampler sampler) throws InvalidSpecException, CommandFailedException {
        for (long each = epochs.first(); each <= epochs.last(); each++) {
            int epoch = (int) each;
            EpochOrder order = sampler.epoch(epoch);
            for (int rank = ranks.first(); rank <= ranks.last(); rank++) {
                Path file =
                        Path.of(template.replace(EPOCH, Integer.toString(epoch)).replace(RANK, Integer.toString(rank)));
                try {
                    write(file.toAbsolutePath(), order, rank);
                } catch (IOException e) {
                    throw new CommandFailedException("cannot write " + file + ": " + reason(e) + "; " + files
                            + " of " + epochs.count() * ranks.count()
                            + " files are written; run the command again when that is solved");
                }
                files++;
                show();
            }
        }
        return String.format(Locale.ROOT, "%,d files, %,d bytes", files, bytes);
    }

    private static String reason(IOException failure) {
        return failure instanceof FileAlreadyExistsException e
                ? e.getFile() + " is not a directory"
                : OrderFile.reason(failure);
    }

    private void write(Path file, EpochOrder order, int rank) throws IOException {
        Path directory = file.getParent();
        if (directory != null) {
            Files.createDirectories(directory);
        }
        Path part = file.resolveSibling("." + file.getFileName() + "." + UUID.randomUUID() + ".part");
        writing = part;
        try {
            try (FileChannel out = FileChannel.open(part, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                write(out, order, rank);
            }
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            writing = null;
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(part);
            throw e;
        }
    }

    private void write(FileChannel out, EpochOrder order, int rank) throws IOException {
        int length = order.length(rank);
        int step = 0;
        while (step < length) {
            chunk.clear();
            while (step < length && chunk.hasRemaining()) {
                chunk.putLong(order.sample(rank, step++));
            }
            chunk.flip();
            while (chunk.hasRemaining()) {
                bytes += out.write(chunk);
            }
        }
    }

    private void show() {
        if (progress == null && System.nanoTime() - beganNs > QUIET_NS) {
            progress = Progress.begin("writing orders", epochs.count() * ranks.count());
        }
        if (progress != null) {
            progress.at(files);
        }
    }

    @Override
    public void close() {
        if (progress != null) {
            progress.close();
        }
    }
}
