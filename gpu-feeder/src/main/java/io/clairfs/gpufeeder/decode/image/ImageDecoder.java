package io.clairfs.gpufeeder.decode.image;

import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.SampleFormat;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/** Decodes one image after the other, by its first bytes, not by its name. */
final class ImageDecoder implements SampleDecoder.Content {
    private final ImageForm form;
    private final PixelDecoders decoders;
    private final TriangleFilter filter = new TriangleFilter();

    ImageDecoder(ImageForm form, Supplier<PixelDecoder> newJpeg) {
        this.form = form;
        decoders = new PixelDecoders(newJpeg);
    }

    @Override
    public SampleFormat format() {
        return form.format();
    }

    @Override
    public void decode(MemorySegment file, long key, MemorySegment slot) throws BadSampleException {
        switch (form.kind()) {
            case ANY -> {}
            case JPEG -> require(JdkPng.begins(file), ImageForm.Kind.PNG);
            case PNG -> require(JpegHeader.begins(file), ImageForm.Kind.JPEG);
        }
        Pixels pixels = decoders.decode(file);
        Framing framing = Framing.of(form, pixels.width(), pixels.height(), key);
        filter.resize(pixels, framing, form.layout(), slot);
    }

    private void require(boolean other, ImageForm.Kind kind) throws BadSampleException {
        if (other) {
            throw new BadSampleException("a " + kind + " file, but only " + form.kind()
                    + " files are expected: --decode image,... takes both");
        }
    }

    @Override
    public void close() {
        decoders.close();
    }
}
