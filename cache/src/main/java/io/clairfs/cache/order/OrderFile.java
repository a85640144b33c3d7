package io.clairfs.cache.order;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * Reads an order that a user wrote to a file: indices as text or as little-endian signed 64-bit numbers, or paths, one per line.
 *
 * <p>A file with a zero byte is binary: indices below 2^31 have four of them each. In a text file the lines are indices if every line is a
 * number, else paths relative to the dataset's root.
 */
public final class OrderFile {
    private static final int MOST_LINE_BYTES = 4096;
    private static final int BUFFER = 1 << 16;
    private static final long MOST_BYTES = 1L << 30;
    private static final byte[] NUMPY_MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};

    private final Path file;
    private final SamplerSetting setting;
    private int[] order = new int[1024];
    private int count;

    private OrderFile(Path file, SamplerSetting setting) {
        this.file = file;
        this.setting = setting;
    }

    /**
     * The order in the file called {@code name}.
     *
     * @throws OrderNotReadyException when there is no such file, or it cannot be read now but perhaps another time
     * @throws InvalidSpecException when it is no order of this dataset, or access is denied
     */
    static int[] read(String name, SamplerSetting setting) throws InvalidSpecException {
        try {
            OrderFile reader = new OrderFile(Path.of(name), setting);
            reader.read();
            return reader.order.length == reader.count ? reader.order : Arrays.copyOf(reader.order, reader.count);
        } catch (IOException | InvalidPathException e) {
            throw unreadable(name, e);
        }
    }

    /** What to throw when a file could not be read. Only denied access is for good: a disk, a network or a server may answer the next time. */
    static InvalidSpecException unreadable(String name, Exception failure) {
        String message = "cannot read order file " + Keys.shorten(name) + ": " + reason(failure);
        return switch (failure) {
            case NoSuchFileException _ -> new OrderNotReadyException(message, true);
            case AccessDeniedException _ -> new InvalidSpecException(message);
            case IOException _ -> new OrderNotReadyException(message);
            default -> new InvalidSpecException(message);
        };
    }

    /** Why a file could not be read; the message of some exceptions is the file's name alone. */
    public static String reason(Exception failure) {
        return switch (failure) {
            case NoSuchFileException _ -> "no such file";
            case AccessDeniedException _ -> "permission denied";
            case FileSystemException e when e.getReason() != null -> e.getReason();
            default -> String.valueOf(failure.getMessage());
        };
    }

    private enum Form {
        BINARY,
        INDICES,
        PATHS
    }

    /** A pipe or a device could block the reader for ever. */
    private void requireRegular() throws IOException, InvalidSpecException {
        BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
        if (!now.isRegularFile()) {
            throw new InvalidSpecException(Keys.shorten(file.toString()) + " is not a file");
        }
        if (now.size() > MOST_BYTES) {
            throw new InvalidSpecException(Keys.shorten(file.toString()) + " has more than " + MOST_BYTES + " bytes");
        }
    }

    private void read() throws IOException, InvalidSpecException {
        requireRegular();
        switch (form()) {
            case BINARY -> readBinary();
            case INDICES -> readLines(line -> (int) Math.min(number(line), Integer.MAX_VALUE));
            case PATHS -> readPaths();
        }
    }

    private Form form() throws IOException, InvalidSpecException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] buffer = new byte[BUFFER];
            boolean numbers = true;
            boolean first = true;
            for (int n = in.read(buffer); n > 0; n = in.read(buffer)) {
                if (first
                        && n >= NUMPY_MAGIC.length
                        && Arrays.equals(buffer, 0, NUMPY_MAGIC.length, NUMPY_MAGIC, 0, NUMPY_MAGIC.length)) {
                    throw new InvalidSpecException(
                            file + " is a .npy file; write the order with indices.astype('<i8').tofile(name)");
                }
                first = false;
                for (int i = 0; i < n; i++) {
                    if (buffer[i] == 0) {
                        return Form.BINARY;
                    }
                    numbers &= (buffer[i] >= '0' && buffer[i] <= '9') || buffer[i] == '\n' || buffer[i] == '\r';
                }
            }
            return numbers ? Form.INDICES : Form.PATHS;
        }
    }

    private void readBinary() throws IOException, InvalidSpecException {
        long bytes = Files.size(file);
        if (bytes % Long.BYTES != 0 || bytes / Long.BYTES > Integer.MAX_VALUE - 8) {
            throw new InvalidSpecException(file + " has " + bytes + " bytes: 64-bit indices take 8 each");
        }
        order = new int[(int) (bytes / Long.BYTES)];
        byte[] buffer = new byte[BUFFER];
        ByteBuffer numbers = ByteBuffer.wrap(buffer).order(ByteOrder.LITTLE_ENDIAN);
        try (InputStream in = Files.newInputStream(file)) {
            while (count < order.length) {
                int n = in.readNBytes(buffer, 0, (int) Math.min(BUFFER, (long) (order.length - count) * Long.BYTES));
                if (n == 0 || n % Long.BYTES != 0) {
                    throw new OrderNotReadyException(file + " became shorter while it was read");
                }
                for (int at = 0; at < n; at += Long.BYTES) {
                    add(numbers.getLong(at));
                }
            }
        }
    }

    private void readPaths() throws IOException, InvalidSpecException {
        Supplier<SamplerSetting.SamplePaths> dataset = setting.paths();
        if (dataset == null) {
            throw new InvalidSpecException(
                    file + " names samples by path, which needs a mounted dataset; write indices instead");
        }
        SamplerSetting.SamplePaths paths = dataset.get();
        readLines(line -> {
            int sample = paths.sampleOf(line);
            if (sample < 0) {
                throw new InvalidSpecException("line " + (count + 1) + " of " + file + ": "
                        + Keys.shorten(new String(line, UTF_8)) + " is no sample of this dataset");
            }
            return sample;
        });
    }

    @FunctionalInterface
    private interface LineReader {
        long sample(byte[] line) throws InvalidSpecException;
    }

    private long number(byte[] line) throws InvalidSpecException {
        long value = 0;
        for (byte digit : line) {
            if (digit == '\r') {
                throw new InvalidSpecException("line " + (count + 1) + " of " + file
                        + " has a carriage return between digits; write one index per line");
            }
            value = Math.min(value * 10 + (digit - '0'), Integer.MAX_VALUE);
        }
        return value;
    }

    /** Passes every non-empty line to {@code reader}, without the line's end. */
    private void readLines(LineReader reader) throws IOException, InvalidSpecException {
        byte[] line = new byte[MOST_LINE_BYTES];
        int length = 0;
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER)) {
            for (int c = in.read(); c >= 0; c = in.read()) {
                if (c == '\n') {
                    addLine(line, length, reader);
                    length = 0;
                } else if (length == MOST_LINE_BYTES) {
                    throw new InvalidSpecException(
                            "line " + (count + 1) + " of " + file + " has more than " + MOST_LINE_BYTES + " bytes");
                } else {
                    line[length++] = (byte) c;
                }
            }
        }
        addLine(line, length, reader);
    }

    private void addLine(byte[] line, int length, LineReader reader) throws InvalidSpecException {
        int end = length;
        while (end > 0 && line[end - 1] == '\r') {
            end--;
        }
        if (end > 0) {
            add(reader.sample(Arrays.copyOf(line, end)));
        }
    }

    private void add(long sample) throws InvalidSpecException {
        if (sample < 0 || sample >= setting.samples()) {
            throw new InvalidSpecException("number " + (count + 1) + " of " + file + " is out of range: "
                    + setting.samples() + " samples have indices 0 to " + (setting.samples() - 1));
        }
        if (count == order.length) {
            order = Arrays.copyOf(order, (int) Math.min(Integer.MAX_VALUE - 8L, count * 2L));
        }
        order[count++] = (int) sample;
    }
}
