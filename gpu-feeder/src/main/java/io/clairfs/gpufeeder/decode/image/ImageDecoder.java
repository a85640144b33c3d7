package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.SampleFormat;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Decodes one image after the other, by its first bytes, not by its name. */
final class ImageDecoder implements SampleDecoder.Content {
    private final ImageForm form;
    private final Supplier<PixelDecoder> newJpeg;
    private final TriangleFilter filter = new TriangleFilter();
    private @Nullable PixelDecoder jpeg;
    private @Nullable PixelDecoder png;

    ImageDecoder(ImageForm form, Supplier<PixelDecoder> newJpeg) {
        this.form = form;
        this.newJpeg = newJpeg;
    }

    @Override
    public SampleFormat format() {
        return form.format();
    }

    @Override
    public void decode(MemorySegment file, long key, MemorySegment slot) throws BadSampleException {
        Pixels pixels = decoder(file).decode(file);
        Framing framing = Framing.of(form, pixels.width(), pixels.height(), key);
        filter.resize(pixels, framing, form.layout(), slot);
    }

    private PixelDecoder decoder(MemorySegment file) throws BadSampleException {
        if (JpegHeader.begins(file)) {
            require(ImageForm.Kind.JPEG);
            if (jpeg == null) {
                jpeg = newJpeg.get();
            }
            return jpeg;
        }
        if (JdkPng.begins(file)) {
            require(ImageForm.Kind.PNG);
            if (png == null) {
                png = new JdkPng();
            }
            return png;
        }
        byte[] first = file.asSlice(0, Math.min(4, file.byteSize())).toArray(JAVA_BYTE);
        throw new BadSampleException(
                first.length == 0
                        ? "the file is empty"
                        : "neither a JPEG nor a PNG file: it begins with "
                                + HexFormat.ofDelimiter(" ").withUpperCase().formatHex(first));
    }

    private void require(ImageForm.Kind kind) throws BadSampleException {
        if (form.kind() != ImageForm.Kind.ANY && form.kind() != kind) {
            throw new BadSampleException("a " + kind + " file, but only " + form.kind()
                    + " files are expected: --decode image,... takes both");
        }
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
