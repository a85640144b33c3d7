package io.clairfs.gpufeeder.decode.spec;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.SampleFormat;
import io.clairfs.gpufeeder.decode.image.ImageForm;
import io.clairfs.gpufeeder.decode.image.ImageForm.Crop;
import io.clairfs.gpufeeder.decode.image.ImageForm.Kind;
import io.clairfs.gpufeeder.decode.image.ImageForm.Layout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Parses the text of a {@link DecodeSpec}. */
final class DecodeSpecParser {
    private static final String KINDS = "raw, int16, npy, wav, image, jpeg, png";
    private static final int LONGEST_TEXT = 1024;
    private static final int MOST_DIMENSIONS = 8;
    private static final int MOST_OFFSET = 1 << 30;

    /** What a batch of a few samples can still hold in memory. */
    private static final long MOST_SAMPLE_BYTES = 1L << 32;

    private static final Pattern EXTENTS = Pattern.compile("[0-9]{1,9}(x[0-9]{1,9}){0," + (MOST_DIMENSIONS - 1) + "}");
    private static final Pattern SIZE = Pattern.compile("[0-9]{1,5}(x[0-9]{1,5})?");

    private DecodeSpecParser() {}

    static DecodeSpec parse(String text) throws InvalidSpecException {
        if (text.length() > LONGEST_TEXT || text.chars().anyMatch(Character::isISOControl)) {
            throw new InvalidSpecException(
                    "a decode spec has up to " + LONGEST_TEXT + " characters, none of them a control character");
        }
        String[] pieces = text.strip().split(",", -1);
        Keys keys = keys(pieces);
        DecodeSpec spec = switch (pieces[0]) {
            case "raw" -> raw(keys, type(keys));
            case "int16" -> raw(keys, ElementType.INT16);
            case "npy" -> new DecodeSpec.Npy();
            case "wav" -> new DecodeSpec.Wav();
            case "image" -> image(keys, Kind.ANY);
            case "jpeg" -> image(keys, Kind.JPEG);
            case "png" -> image(keys, Kind.PNG);
            default ->
                throw new InvalidSpecException(
                        "'" + Keys.shorten(pieces[0]) + "' is no way to decode; known: " + KINDS);
        };
        requireAllUsed(keys, pieces[0]);
        return spec;
    }

    private static Keys keys(String[] pieces) throws InvalidSpecException {
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 1; i < pieces.length; i++) {
            int equals = pieces[i].indexOf('=');
            if (equals <= 0) {
                throw new InvalidSpecException(
                        "'" + Keys.shorten(pieces[i]) + "' is not key=value; between two pairs is one comma");
            }
            String key = pieces[i].substring(0, equals);
            if (values.put(key, pieces[i].substring(equals + 1)) != null) {
                throw new InvalidSpecException("key '" + Keys.shorten(key) + "' is given twice");
            }
        }
        return Keys.of(values);
    }

    private static void requireAllUsed(Keys keys, String kind) throws InvalidSpecException {
        if (kind.equals("npy") || kind.equals("wav")) {
            for (String key : keys.asWritten().keySet()) {
                throw new InvalidSpecException(
                        kind + " takes no '" + Keys.shorten(key) + "': the first file says type and shape");
            }
        }
        keys.requireAllUsed();
    }

    private static ElementType type(Keys keys) throws InvalidSpecException {
        String[] names = Stream.of(ElementType.values())
                .map(type -> type.name().toLowerCase(Locale.ROOT))
                .toArray(String[]::new);
        if (!keys.has("dtype")) {
            throw new InvalidSpecException("dtype is missing: one of " + String.join(", ", names));
        }
        return ElementType.values()[keys.choice("dtype", names)];
    }

    private static DecodeSpec raw(Keys keys, ElementType type) throws InvalidSpecException {
        String shape = keys.text("shape");
        if (shape == null) {
            throw new InvalidSpecException("shape is missing: extents such as 3x224x224, the outermost first");
        }
        if (!EXTENTS.matcher(shape).matches()) {
            throw new InvalidSpecException("shape='" + Keys.shorten(shape) + "' is none: 1 to " + MOST_DIMENSIONS
                    + " extents such as 3x224x224, the outermost first");
        }
        List<Integer> extents = new ArrayList<>();
        long bytes = type.bytes();
        for (String extent : shape.split("x", -1)) {
            extents.add(Integer.valueOf(extent));
            bytes = Math.min(bytes * Integer.parseInt(extent), MOST_SAMPLE_BYTES + 1);
        }
        if (bytes == 0 || bytes > MOST_SAMPLE_BYTES) {
            throw new InvalidSpecException(
                    "shape=" + shape + " is out of range: a sample has 1 to " + MOST_SAMPLE_BYTES + " bytes");
        }
        return new DecodeSpec.Raw(new SampleFormat(type, extents), keys.integer("offset", 0, 0, MOST_OFFSET));
    }

    private static DecodeSpec image(Keys keys, Kind kind) throws InvalidSpecException {
        int[] size = size(keys.text("size"));
        Layout layout = Layout.values()[keys.choice("layout", "nchw", "nhwc")];
        Crop crop = Crop.values()[keys.choice("crop", "center", "random", "none")];
        boolean flip = keys.choice("flip", "none", "random") == 1;
        int longer = Math.max(size[0], size[1]);
        int resize = longer;
        if (keys.has("resize")) {
            if (crop != Crop.CENTER) {
                throw new InvalidSpecException("resize=" + Keys.shorten(keys.text("resize", ""))
                        + " goes with crop=center alone: the other crops are resized to size");
            }
            resize = keys.integer("resize", longer, 1, ImageForm.LONGEST_SIDE);
            if (resize < longer) {
                throw new InvalidSpecException("resize=" + resize + " is less than size=" + keys.text("size", "")
                        + ": the shorter side must hold the crop, " + longer + " pixels or more");
            }
        }
        return new DecodeSpec.Image(new ImageForm(kind, size[0], size[1], layout, crop, resize, flip));
    }

    /** Height and width. */
    private static int[] size(@Nullable String size) throws InvalidSpecException {
        if (size == null) {
            throw new InvalidSpecException("size is missing: pixels such as 224, or height and width such as 224x160");
        }
        String[] sides = size.split("x", -1);
        int height = SIZE.matcher(size).matches() ? Integer.parseInt(sides[0]) : 0;
        int width = height == 0 ? 0 : Integer.parseInt(sides[sides.length - 1]);
        if (Math.min(height, width) < 1 || Math.max(height, width) > ImageForm.LONGEST_SIDE) {
            throw new InvalidSpecException("size='" + Keys.shorten(size) + "' is none: 1 to " + ImageForm.LONGEST_SIDE
                    + " pixels such as 224, or height and width such as 224x160");
        }
        return new int[] {height, width};
    }
}
