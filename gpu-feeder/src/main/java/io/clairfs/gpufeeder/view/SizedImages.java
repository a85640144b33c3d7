package io.clairfs.gpufeeder.view;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.clairfs.cache.view.Transform;
import io.clairfs.cache.view.UnfitFileException;
import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.image.ImageDecoding;
import io.clairfs.gpufeeder.decode.image.ImageForm;
import io.clairfs.gpufeeder.decode.image.ImageSize;
import java.lang.foreign.MemorySegment;
import java.util.Locale;

/** Shows images as {@code .npy} files of one size, what {@code --decode} of the feeder makes of them. Files that do not begin as images are shown as they are. */
final class SizedImages implements Transform {
    /** To be raised with every change of this package that may change a byte. */
    private static final int VERSION = 1;

    private static final long NOTHING_IS_RANDOM = 0;

    private final String identity;
    private final byte[] header;
    private final long bytes;
    private final DecoderPool<SampleDecoder.Content> decoders;

    /** {@code form} takes all kinds of images, and has neither random crops nor flips. */
    SizedImages(ImageForm form) {
        if (form.crop() == ImageForm.Crop.RANDOM || form.flip() || form.kind() != ImageForm.Kind.ANY) {
            throw new IllegalArgumentException(form.toString());
        }
        ImageDecoding decoding = new ImageDecoding(form);
        decoders = new DecoderPool<>(() -> (SampleDecoder.Content) decoding.open(), SampleDecoder::close);
        header = Container.npyHeader(decoding.format());
        bytes = header.length + decoding.format().bytes();
        identity = "npy/" + VERSION + " size=" + form.height() + "x" + form.width() + " layout="
                + form.layout().name().toLowerCase(Locale.ROOT) + " crop="
                + form.crop().name().toLowerCase(Locale.ROOT)
                + (form.crop() == ImageForm.Crop.CENTER ? " resize=" + form.resize() : "") + " "
                + ImageDecoding.decoders();
    }

    @Override
    public String identity() {
        return identity;
    }

    @Override
    public long madeBytes(MemorySegment head, long fileBytes) throws UnfitFileException {
        if (!WholeImages.isTaken(head, fileBytes)) {
            return AS_IT_IS;
        }
        try {
            return ImageSize.of(head, fileBytes) == null ? UNTOLD : bytes;
        } catch (BadSampleException e) {
            throw WholeImages.unfit(e);
        }
    }

    @Override
    public void make(MemorySegment file, MemorySegment into) throws UnfitFileException {
        try {
            WholeImages.requireSize(bytes, into);
            MemorySegment.copy(header, 0, into, JAVA_BYTE, 0, header.length);
            decoders.use(decoder -> decoder.decode(file, NOTHING_IS_RANDOM, into.asSlice(header.length)));
        } catch (BadSampleException e) {
            throw WholeImages.unfit(e);
        }
    }
}
