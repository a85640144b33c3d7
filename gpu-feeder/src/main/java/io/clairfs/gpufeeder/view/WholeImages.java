package io.clairfs.gpufeeder.view;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.clairfs.cache.view.Transform;
import io.clairfs.cache.view.UnfitFileException;
import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.image.ImageDecoding;
import io.clairfs.gpufeeder.decode.image.ImageSize;
import io.clairfs.gpufeeder.decode.image.WholeImageDecoder;
import java.lang.foreign.MemorySegment;

/** Shows images as all of their pixels, at their own size or with the shorter side resized. Files that do not begin as images are shown as they are. */
final class WholeImages implements Transform {
    /** In place of a length: images keep their size. */
    static final int AS_THEY_ARE = 0;

    /** To be raised with every change of this package that may change a byte. */
    private static final int VERSION = 1;

    /** A larger file would have to be in memory whole: it is no image that somebody trains with. */
    private static final long MOST_FILE_BYTES = 1L << 30;

    private final Container container;
    private final int shorter;
    private final String identity;
    private final DecoderPool<WholeImageDecoder> decoders =
            new DecoderPool<>(WholeImageDecoder::new, WholeImageDecoder::close);

    /** {@code shorter} is the length of the shorter side, pixels, or {@link #AS_THEY_ARE}. */
    WholeImages(Container container, int shorter) {
        this.container = container;
        this.shorter = shorter;
        identity = switch (container) {
                    case PPM -> "decode/";
                    case NPY -> "npy/";
                }
                + VERSION + (shorter == AS_THEY_ARE ? "" : " shorter=" + shorter) + " " + ImageDecoding.decoders();
    }

    @Override
    public String identity() {
        return identity;
    }

    @Override
    public long madeBytes(MemorySegment head, long fileBytes) throws UnfitFileException {
        if (!isTaken(head, fileBytes)) {
            return AS_IT_IS;
        }
        try {
            ImageSize size = ImageSize.of(head, fileBytes);
            if (size == null) {
                return UNTOLD;
            }
            ImageSize shown = shown(size);
            return container.header(shown).length + shown.rgbBytes();
        } catch (BadSampleException e) {
            throw unfit(e);
        }
    }

    /** Whether a file is taken for an image, by its first bytes and its length. */
    static boolean isTaken(MemorySegment head, long fileBytes) {
        return fileBytes <= MOST_FILE_BYTES && ImageSize.isImage(head);
    }

    private ImageSize shown(ImageSize size) throws BadSampleException {
        return shorter == AS_THEY_ARE ? size : size.resized(shorter);
    }

    @Override
    public void make(MemorySegment file, MemorySegment into) throws UnfitFileException {
        try {
            decoders.use(decoder -> {
                WholeImageDecoder.Decoded image = decoder.decode(file);
                ImageSize size = shown(image.size());
                byte[] header = container.header(size);
                requireSize(header.length + size.rgbBytes(), into);
                MemorySegment.copy(header, 0, into, JAVA_BYTE, 0, header.length);
                image.write(size, into.asSlice(header.length));
            });
        } catch (BadSampleException e) {
            throw unfit(e);
        }
    }

    /** When a file could not be read while it was listed, its size was not known. */
    static void requireSize(long bytes, MemorySegment into) throws BadSampleException {
        if (bytes != into.byteSize()) {
            throw new BadSampleException(
                    "its size was not known when it was listed; unmount and mount again to see it");
        }
    }

    static UnfitFileException unfit(BadSampleException e) {
        return new UnfitFileException(String.valueOf(e.getMessage()), e);
    }
}
