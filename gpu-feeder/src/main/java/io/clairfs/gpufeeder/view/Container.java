package io.clairfs.gpufeeder.view;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.SampleFormat;
import io.clairfs.gpufeeder.decode.image.ImageSize;
import java.util.List;
import java.util.stream.Collectors;

/** The kind of file that pixels are shown as: a header, then the pixels as they lie in memory. */
enum Container {
    /** Binary PPM ({@code P6}): red, green and blue, 8 bits each. */
    PPM {
        @Override
        byte[] header(ImageSize size) {
            return ("P6\n" + size.width() + " " + size.height() + "\n255\n").getBytes(ISO_8859_1);
        }
    },
    /** A uint8 array of height, width and three channels. */
    NPY {
        @Override
        byte[] header(ImageSize size) {
            return npyHeader(new SampleFormat(ElementType.UINT8, List.of(size.height(), size.width(), 3)));
        }
    };

    private static final String NPY_MAGIC = "\u0093NUMPY\u0001\u0000";
    private static final int NPY_ALIGNMENT = 64;

    /** What stands before the pixels of an image of this size. */
    abstract byte[] header(ImageSize size);

    /** The header of a {@code .npy} file, version 1.0, as numpy writes it: the array behind it begins at a multiple of 64 bytes. */
    static byte[] npyHeader(SampleFormat format) {
        String shape = format.shape().stream().map(String::valueOf).collect(Collectors.joining(", "));
        String dictionary = "{'descr': '" + format.type().typestr() + "', 'fortran_order': False, 'shape': (" + shape
                + (format.shape().size() == 1 ? "," : "") + "), }";
        int before = NPY_MAGIC.length() + Short.BYTES;
        int padding = Math.floorMod(-(before + dictionary.length() + 1), NPY_ALIGNMENT);
        int length = dictionary.length() + padding + 1;
        String header =
                NPY_MAGIC + (char) (length & 0xFF) + (char) (length >> 8) + dictionary + " ".repeat(padding) + "\n";
        return header.getBytes(ISO_8859_1);
    }
}
