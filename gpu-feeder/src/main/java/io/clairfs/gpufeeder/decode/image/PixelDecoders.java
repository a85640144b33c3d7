package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.clairfs.gpufeeder.decode.BadSampleException;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A decoder for each kind of file, told apart by their first bytes. */
final class PixelDecoders implements PixelDecoder {
    private final Supplier<PixelDecoder> newJpeg;
    private @Nullable PixelDecoder jpeg;
    private @Nullable PixelDecoder png;

    PixelDecoders(Supplier<PixelDecoder> newJpeg) {
        this.newJpeg = newJpeg;
    }

    @Override
    public Pixels decode(MemorySegment file) throws BadSampleException {
        if (JpegHeader.begins(file)) {
            if (jpeg == null) {
                jpeg = newJpeg.get();
            }
            return jpeg.decode(file);
        }
        if (JdkPng.begins(file)) {
            if (png == null) {
                png = new JdkPng();
            }
            return png.decode(file);
        }
        byte[] first = file.asSlice(0, Math.min(4, file.byteSize())).toArray(JAVA_BYTE);
        throw new BadSampleException(
                first.length == 0
                        ? "the file is empty"
                        : "neither a JPEG nor a PNG file: it begins with "
                                + HexFormat.ofDelimiter(" ").withUpperCase().formatHex(first));
    }

    @Override
    public void close() {
        if (jpeg != null) {
            jpeg.close();
            jpeg = null;
        }
        if (png != null) {
            png.close();
            png = null;
        }
    }
}
