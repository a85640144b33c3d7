package io.clairfs.gpufeeder.decode.image;

import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.image.JpegHeader.ColorSpace;
import java.awt.image.DataBufferByte;
import java.awt.image.Raster;
import java.lang.foreign.MemorySegment;

/**
 * JPEG by the JDK, where libjpeg-turbo is missing.
 *
 * <p>The JDK's reader knows neither CMYK nor the color rules of libjpeg, so it gives the components as they are in the file, and they are converted here
 * by libjpeg's own fixed-point formulas (JFIF 1.02: ITU-R BT.601, full range).
 */
final class JdkJpeg implements PixelDecoder {
    private static final int SCALE_BITS = 16;
    private static final int HALF = 1 << (SCALE_BITS - 1);

    private byte[] rgb = new byte[0];

    @Override
    public Pixels decode(MemorySegment file) throws BadSampleException {
        JpegHeader header = JpegHeader.of(file);
        int components = header.colors().components();
        int count = header.width() * header.height();
        if ((long) components * count > Integer.MAX_VALUE - 8) {
            throw new BadSampleException("JPEG file of " + header.width() + "x" + header.height()
                    + " pixels: the JDK cannot decode so many");
        }
        Raster raster;
        try (JdkImages images = new JdkImages("JPEG")) { // a reader keeps the tables of one file for the next
            raster = images.read(file, reader -> reader.readRaster(0, null));
        }
        if (raster.getWidth() != header.width()
                || raster.getHeight() != header.height()
                || raster.getNumBands() != components
                || !(raster.getDataBuffer() instanceof DataBufferByte data)
                || data.getData().length != components * count) {
            throw new BadSampleException("damaged JPEG file: its image is not what its header says");
        }
        convert(data.getData(), count, header.colors());
        return new Pixels(MemorySegment.ofArray(rgb), header.width(), header.height());
    }

    private void convert(byte[] in, int count, ColorSpace colors) {
        int needed = Math.max(Pixels.CHANNELS, colors.components()) * count;
        if (rgb.length < needed) {
            rgb = new byte[needed];
        }
        switch (colors) {
            case GREY -> {
                for (int i = 0; i < count; i++) {
                    rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = in[i];
                }
            }
            case RGB -> System.arraycopy(in, 0, rgb, 0, Pixels.CHANNELS * count);
            case YCC -> {
                for (int i = 0; i < count; i++) {
                    fromYcc(in, 3 * i, 3 * i, false);
                }
            }
            case CMYK -> {
                System.arraycopy(in, 0, rgb, 0, 4 * count);
                InkColors.toRgb(MemorySegment.ofArray(rgb), count);
            }
            case YCCK -> {
                for (int i = 0; i < count; i++) {
                    fromYcc(in, 4 * i, 4 * i, true);
                    rgb[4 * i + 3] = in[4 * i + 3];
                }
                InkColors.toRgb(MemorySegment.ofArray(rgb), count);
            }
        }
    }

    private void fromYcc(byte[] in, int from, int to, boolean inverted) {
        int y = in[from] & 0xFF;
        int cb = (in[from + 1] & 0xFF) - 128;
        int cr = (in[from + 2] & 0xFF) - 128;
        int red = y + ((fixed(1.40200) * cr + HALF) >> SCALE_BITS);
        int green = y + ((-fixed(0.34414) * cb - fixed(0.71414) * cr + HALF) >> SCALE_BITS);
        int blue = y + ((fixed(1.77200) * cb + HALF) >> SCALE_BITS);
        rgb[to] = clamped(red, inverted);
        rgb[to + 1] = clamped(green, inverted);
        rgb[to + 2] = clamped(blue, inverted);
    }

    private static int fixed(double factor) {
        return (int) (factor * (1 << SCALE_BITS) + 0.5);
    }

    private static byte clamped(int value, boolean inverted) {
        int clamped = Math.clamp(inverted ? 255 - value : value, 0, 255);
        return (byte) clamped;
    }
}
