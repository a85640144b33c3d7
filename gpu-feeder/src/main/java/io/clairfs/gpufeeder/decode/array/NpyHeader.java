package io.clairfs.gpufeeder.decode.array;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.clairfs.cache.order.Keys;
import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.SampleFormat;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The header of a {@code .npy} file, versions 1 to 3 of numpy's format (numpy.lib.format): magic, version, length, and a Python dictionary of the element
 * type, the order and the shape.
 *
 * @param bytes of the header with its magic; the array follows
 */
record NpyHeader(SampleFormat format, int bytes) {
    /** The longest header, as in version 1. */
    static final int MOST_BYTES = 10 + 65_535;

    private static final String MAGIC = "\u0093NUMPY";
    private static final int LONG_LENGTH_BYTES = 12;
    private static final int SHORT_LENGTH_BYTES = 10;

    private static final Pattern DICTIONARY = Pattern.compile("\\s*\\{(.*)\\}\\s*", Pattern.DOTALL);

    /** A key and its value: a text, a word, or a tuple of integers. */
    private static final Pattern ENTRY = Pattern.compile(
            "\\s*(?:'([a-z_]{1,20})'|\"([a-z_]{1,20})\")\\s*:\\s*('[^']{0,80}'|\"[^\"]{0,80}\"|True|False|\\([0-9L,\\s]*\\))\\s*(,|$)");

    private static final int MOST_EXTENT_DIGITS = 9;
    /** What numpy takes, so that the tuple is one. */
    private static final int MOST_NUMPY_DIMENSIONS = 32;

    /** {@code file} is the beginning of a file, at least its header. */
    static NpyHeader of(MemorySegment file) throws BadSampleException {
        int bytes = bytes(file);
        if (bytes > file.byteSize()) {
            throw new BadSampleException("truncated .npy file: it ends within its header");
        }
        int prefix = prefix(file);
        return new NpyHeader(parse(text(file, prefix, bytes - prefix)), bytes);
    }

    /** How long the header of a file is that begins like this; the file may be shorter. */
    static int bytes(MemorySegment file) throws BadSampleException {
        if (file.byteSize() < SHORT_LENGTH_BYTES
                || !text(file, 0, MAGIC.length()).equals(MAGIC)) {
            throw new BadSampleException("not a .npy file: it does not begin with \\x93NUMPY");
        }
        int version = at(file, MAGIC.length());
        if (version < 1 || version > 3) {
            throw new BadSampleException(".npy file of version " + version + ": 1, 2 and 3 are known");
        }
        int prefix = prefix(file);
        long length = at(file, 8) | at(file, 9) << 8;
        if (version > 1 && file.byteSize() >= LONG_LENGTH_BYTES) {
            length |= (long) at(file, 10) << 16 | (long) at(file, 11) << 24;
        }
        if (prefix + length > MOST_BYTES) {
            throw new BadSampleException(
                    ".npy file with a header of " + length + " bytes: up to " + (MOST_BYTES - prefix) + " are taken");
        }
        return prefix + (int) length;
    }

    /** How many bytes come before the dictionary. */
    private static int prefix(MemorySegment file) {
        return at(file, MAGIC.length()) == 1 ? SHORT_LENGTH_BYTES : LONG_LENGTH_BYTES;
    }

    private static SampleFormat parse(String header) throws BadSampleException {
        Matcher dictionary = DICTIONARY.matcher(header);
        if (!dictionary.matches()) {
            throw malformed(header);
        }
        String rest = dictionary.group(1);
        String type = null;
        String order = null;
        String shape = null;
        while (!rest.isBlank()) {
            Matcher entry = ENTRY.matcher(rest);
            if (!entry.lookingAt()) {
                throw malformed(header);
            }
            String value = entry.group(3);
            switch (Objects.requireNonNullElse(entry.group(1), entry.group(2))) {
                case "descr" -> type = value;
                case "fortran_order" -> order = value;
                case "shape" -> shape = value;
                default -> throw malformed(header);
            }
            rest = rest.substring(entry.end());
        }
        if (type == null || order == null || shape == null) {
            throw malformed(header);
        }
        if (!order.equals("False")) {
            throw new BadSampleException(
                    ".npy file in Fortran order: save it in C order, as numpy.ascontiguousarray makes it");
        }
        return format(type(type), extents(shape, header));
    }

    private static SampleFormat format(ElementType type, List<Integer> shape) throws BadSampleException {
        if (shape.size() > SampleFormat.MOST_DIMENSIONS) {
            throw new BadSampleException(".npy file of " + shape.size() + " dimensions: up to "
                    + SampleFormat.MOST_DIMENSIONS + " are taken");
        }
        try {
            return new SampleFormat(type, shape);
        } catch (IllegalArgumentException | ArithmeticException _) { // an extent of zero, or too many bytes
            throw new BadSampleException(
                    ".npy file of shape " + shape + ": an array of at least one element is needed");
        }
    }

    private static ElementType type(String written) throws BadSampleException {
        for (ElementType type : ElementType.values()) {
            if (written.equals("'" + type.typestr() + "'") || written.equals("\"" + type.typestr() + "\"")) {
                return type;
            }
        }
        String known = Stream.of(ElementType.values()).map(ElementType::typestr).collect(Collectors.joining(", "));
        throw new BadSampleException(".npy file of elements " + printable(written) + ": known are " + known);
    }

    private static List<Integer> extents(String tuple, String header) throws BadSampleException {
        List<Integer> shape = new ArrayList<>();
        String inside = tuple.substring(1, tuple.length() - 1).strip();
        if (inside.endsWith(",")) {
            inside = inside.substring(0, inside.length() - 1);
        } else if (!inside.isEmpty() && !inside.contains(",")) {
            throw malformed(header); // (3) is no tuple in Python
        }
        if (inside.isEmpty()) {
            return shape;
        }
        for (String extent : inside.split(",", MOST_NUMPY_DIMENSIONS + 1)) {
            String digits = extent.strip();
            if (digits.endsWith("L")) { // of Python 2
                digits = digits.substring(0, digits.length() - 1);
            }
            if (!digits.matches("[0-9]{1," + MOST_EXTENT_DIGITS + "}")) {
                throw malformed(header);
            }
            shape.add(Integer.valueOf(digits));
        }
        return shape;
    }

    private static BadSampleException malformed(String header) {
        return new BadSampleException("damaged .npy file: its header is " + printable(header.strip()));
    }

    private static String printable(String text) {
        return Keys.shorten(text.replaceAll("[^ -~]", "?"));
    }

    private static String text(MemorySegment file, long at, int bytes) {
        return new String(file.asSlice(at, bytes).toArray(JAVA_BYTE), ISO_8859_1);
    }

    private static int at(MemorySegment file, long at) {
        return file.get(JAVA_BYTE, at) & 0xFF;
    }
}
