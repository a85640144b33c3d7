package io.clairfs.gpufeeder.decode.image;

import io.clairfs.cache.posix.NativeCall;
import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.image.JpegHeader.ColorSpace;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * JPEG by libjpeg-turbo: accurate DCT and smooth upsampling, which are libjpeg's defaults and so Pillow's.
 *
 * <p>Each file has a handle of its own. A handle keeps the tables of the file before, with which a file without tables would be decoded to other
 * pixels, or to some at all.
 *
 * <p>What libjpeg warns of is decoded, as Pillow does, but a file that ends too early is refused, as Pillow does as well. So is one of which libjpeg
 * warned before it failed: the library calls that a warning too, though it may have written no pixel, and only the text is the failure's.
 */
final class TurboJpeg implements PixelDecoder {
    private static final int RGB = 0;
    private static final int CMYK = 11;
    private static final int LIMIT_SCANS = 32_768;
    private static final int WARNING = 0;
    private static final long LONGEST_TEXT = 200;
    private static final String TRUNCATED = "Premature end of JPEG file";

    /** How libjpeg's warnings begin: jerror.h, JWRN_*. */
    private static final List<String> WARNINGS = List.of(
            TRUNCATED,
            "Corrupt JPEG data",
            "Unknown Adobe color transform",
            "Inconsistent progression sequence",
            "Warning: unknown JFIF revision",
            "Invalid SOS parameters for sequential JPEG",
            "Application transferred too many scanlines");

    private final PixelBuffer buffer = new PixelBuffer();

    @Override
    public Pixels decode(MemorySegment file) throws BadSampleException {
        JpegHeader header = JpegHeader.of(file);
        int width = header.width();
        int height = header.height();
        boolean inks = header.colors() == ColorSpace.CMYK || header.colors() == ColorSpace.YCCK;
        int bytesPerPixel = inks ? 4 : Pixels.CHANNELS;
        MemorySegment pixels = buffer.of((long) bytesPerPixel * width * height);
        MemorySegment handle = open();
        try {
            int failed = (int) TurboJpegLibrary.Calls.DECOMPRESS.invokeExact(
                    handle,
                    file,
                    file.byteSize(),
                    pixels,
                    width,
                    bytesPerPixel * width,
                    height,
                    inks ? CMYK : RGB,
                    LIMIT_SCANS);
            if (failed != 0) {
                requireWholeDespiteWarning(handle, file);
            }
        } catch (BadSampleException e) {
            throw e;
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        } finally {
            close(handle);
        }
        if (inks) {
            InkColors.toRgb(pixels, (long) width * height);
        }
        return new Pixels(pixels, width, height);
    }

    private static MemorySegment open() {
        MemorySegment handle;
        try {
            handle = (MemorySegment) TurboJpegLibrary.Calls.INIT_DECOMPRESS.invokeExact();
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
        if (handle.address() == 0) {
            throw new OutOfMemoryError("tjInitDecompress");
        }
        return handle;
    }

    private static void close(MemorySegment handle) {
        try {
            int _ = (int) TurboJpegLibrary.Calls.DESTROY.invokeExact(handle);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    private static void requireWholeDespiteWarning(MemorySegment handle, MemorySegment file) throws BadSampleException {
        int code;
        String text;
        try {
            code = (int) TurboJpegLibrary.Calls.ERROR_CODE.invokeExact(handle);
            text = text((MemorySegment) TurboJpegLibrary.Calls.ERROR_TEXT.invokeExact(handle));
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
        if (code != WARNING || WARNINGS.stream().noneMatch(text::startsWith)) {
            throw new BadSampleException("damaged JPEG file: " + text);
        }
        // The text is that of the first warning; a later one could be that the file ends.
        if (text.contains(TRUNCATED) || !JpegHeader.isEnded(file)) {
            throw new BadSampleException(
                    "truncated JPEG file: its image goes on after its " + file.byteSize() + " bytes");
        }
    }

    @SuppressWarnings("restricted")
    private static String text(MemorySegment text) {
        return text.reinterpret(LONGEST_TEXT).getString(0);
    }

    @Override
    public void close() {
        buffer.close();
    }
}
