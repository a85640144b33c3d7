package io.clairfs.gpufeeder.decode.image;

import io.clairfs.gpufeeder.decode.BadSampleException;
import java.lang.foreign.MemorySegment;

/**
 * Decodes JPEG and PNG files to all of their pixels, resized or not, but not cropped. The pixels are those of {@link ImageDecoding}. Used by one
 * thread at a time, and closed by it.
 */
public final class WholeImageDecoder implements AutoCloseable {
    private final PixelDecoders decoders;
    private final TriangleFilter filter = new TriangleFilter();

    public WholeImageDecoder() {
        this(TurboJpegLibrary.isPresent());
    }

    WholeImageDecoder(boolean turbo) {
        decoders = new PixelDecoders(ImageDecoding.jpegDecoders(turbo));
    }

    /**
     * The size that {@code file} has, decoded now. The pixels are valid until the next call.
     *
     * @param file the whole file, in native memory
     */
    public Decoded decode(MemorySegment file) throws BadSampleException {
        return new Decoded(decoders.decode(file));
    }

    /** A decoded image. */
    public final class Decoded {
        private final Pixels pixels;

        private Decoded(Pixels pixels) {
            this.pixels = pixels;
        }

        public ImageSize size() {
            return new ImageSize(pixels.width(), pixels.height());
        }

        /** Writes the pixels, three bytes each, in rows, resized to {@code size}. */
        public void write(ImageSize size, MemorySegment into) throws BadSampleException {
            if (size.equals(size())) {
                MemorySegment.copy(pixels.rgb(), 0, into, 0, size.rgbBytes());
                return;
            }
            Framing.Region all = new Framing.Region(0, 0, pixels.width(), pixels.height());
            Framing framing = new Framing(all, size.width(), size.height(), 0, 0, size.width(), size.height(), false);
            filter.resize(pixels, framing, ImageForm.Layout.NHWC, into);
        }
    }

    @Override
    public void close() {
        decoders.close();
    }
}
