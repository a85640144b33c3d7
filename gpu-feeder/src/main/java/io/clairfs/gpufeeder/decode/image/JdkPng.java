package io.clairfs.gpufeeder.decode.image;

import io.clairfs.gpufeeder.decode.BadSampleException;
import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.awt.image.Raster;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32;

/**
 * PNG by the JDK. Values are taken as they are in the file: no gamma, no profile; a palette is looked up, grey becomes three equal channels, alpha is
 * dropped, and of 16 bits the upper 8 are kept.
 */
final class JdkPng implements PixelDecoder {
    private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

    /** Bytes that one byte of deflate can stand for: 258 in 2 bits (RFC 1951). */
    private static final int MOST_DEFLATED = 1032;

    /** Of a chunk beside its data: length, kind, sum. */
    private static final int CHUNK_BYTES = 12;

    private static final int IDAT = 'I' << 24 | 'D' << 16 | 'A' << 8 | 'T';
    private static final int IEND = 'I' << 24 | 'E' << 16 | 'N' << 8 | 'D';
    private static final int PLTE = 'P' << 24 | 'L' << 16 | 'T' << 8 | 'E';
    private static final int TRNS = 't' << 24 | 'R' << 16 | 'N' << 8 | 'S';
    private static final ValueLayout.OfInt BIG_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final JdkImages images = new JdkImages("PNG");
    private byte[] rgb = new byte[0];

    static boolean begins(MemorySegment file) {
        return file.byteSize() >= SIGNATURE.length
                && file.asSlice(0, SIGNATURE.length).mismatch(MemorySegment.ofArray(SIGNATURE)) < 0;
    }

    @Override
    public Pixels decode(MemorySegment file) throws BadSampleException {
        if (!begins(file)) {
            throw new BadSampleException("not a PNG file: its first 8 bytes are not PNG's");
        }
        requireSoundHead(file);
        byte[] bytes = images.bytes(file);
        BufferedImage image = images.read(bytes, leaveOut(bytes), reader -> {
            requirePlausible(reader.getWidth(0), reader.getHeight(0), file.byteSize());
            return reader.read(0);
        });
        int width = image.getWidth();
        int height = image.getHeight();
        if (rgb.length < Pixels.CHANNELS * width * height) {
            rgb = new byte[Pixels.CHANNELS * width * height];
        }
        if (image.getColorModel() instanceof IndexColorModel palette) {
            lookUp(image.getRaster(), palette);
        } else {
            take(image.getRaster());
        }
        return new Pixels(MemorySegment.ofArray(rgb), width, height);
    }

    /** The JDK does not check the sums of the chunks before the pixels: size, palette, transparency. Those of the pixels are in their stream. */
    private static void requireSoundHead(MemorySegment file) throws BadSampleException {
        long at = SIGNATURE.length;
        while (at + CHUNK_BYTES <= file.byteSize()) {
            long length = Integer.toUnsignedLong(file.get(BIG_INT, at));
            boolean isWhole = length <= Math.min(file.byteSize() - at, Integer.MAX_VALUE) - CHUNK_BYTES;
            if (file.get(BIG_INT, at + Integer.BYTES) == IDAT || !isWhole) {
                return;
            }
            requireSound(file, at, (int) length);
            at += CHUNK_BYTES + length;
        }
    }

    /** Checks the sum of the chunk that begins at {@code at}, all of which is there. */
    static void requireSound(MemorySegment file, long at, int length) throws BadSampleException {
        CRC32 sum = new CRC32();
        sum.update(
                file.asSlice(at + Integer.BYTES, Integer.BYTES + (long) length).asByteBuffer());
        if ((int) sum.getValue() != file.get(BIG_INT, at + 2 * Integer.BYTES + length)) {
            throw new BadSampleException("damaged PNG file: the checksum of what precedes its pixels is wrong");
        }
    }

    /**
     * Leaves out the chunks that are not needed for the pixels, and returns how many bytes remain. Where there is a palette, the JDK would read
     * them, too, and refuse the file for a text or a profile that is not as it should be; Pillow does not. The first chunk stays, for it has to be
     * the size. Chunks of pixels have to follow each other: those behind another chunk do not count, for Pillow neither.
     */
    private static int leaveOut(byte[] file) {
        MemorySegment chunks = MemorySegment.ofArray(file);
        int from = SIGNATURE.length;
        int to = from;
        boolean begun = false;
        boolean over = false;
        while (file.length - from >= 2 * Integer.BYTES) {
            long whole = CHUNK_BYTES + Integer.toUnsignedLong(chunks.get(BIG_INT, from));
            int bytes = (int) Math.min(whole, file.length - from); // the last one may be cut off
            int kind = chunks.get(BIG_INT, from + Integer.BYTES);
            over |= begun && kind != IDAT;
            begun |= kind == IDAT;
            boolean isNeeded = switch (kind) {
                case IEND -> true;
                case IDAT, PLTE, TRNS -> !over;
                default -> from == SIGNATURE.length;
            };
            if (isNeeded) {
                System.arraycopy(file, from, file, to, bytes);
                to += bytes;
            }
            from += bytes;
        }
        return to;
    }

    /** Before memory is taken for them, so many pixels must be possible in the file. */
    static void requirePlausible(long width, long height, long fileBytes) throws BadSampleException {
        if (width * height / Byte.SIZE > MOST_DEFLATED * fileBytes) {
            throw new BadSampleException(
                    "damaged PNG file: " + width + "x" + height + " pixels in " + fileBytes + " bytes");
        }
    }

    private void lookUp(Raster raster, IndexColorModel palette) {
        int[] row = new int[raster.getWidth()];
        int at = 0;
        for (int y = 0; y < raster.getHeight(); y++) {
            raster.getSamples(0, y, row.length, 1, 0, row);
            for (int index : row) {
                int color = index < palette.getMapSize() ? palette.getRGB(index) : 0;
                rgb[at++] = (byte) (color >> 16);
                rgb[at++] = (byte) (color >> 8);
                rgb[at++] = (byte) color;
            }
        }
    }

    private void take(Raster raster) {
        int bands = raster.getNumBands();
        int shift = raster.getSampleModel().getSampleSize(0) - 8;
        // One or two bands: grey, and perhaps alpha.
        int step = bands < Pixels.CHANNELS ? 0 : 1;
        int[] row = new int[raster.getWidth() * bands];
        int at = 0;
        for (int y = 0; y < raster.getHeight(); y++) {
            raster.getPixels(0, y, raster.getWidth(), 1, row);
            for (int i = 0; i < row.length; i += bands) {
                rgb[at++] = (byte) (row[i] >> shift);
                rgb[at++] = (byte) (row[i + step] >> shift);
                rgb[at++] = (byte) (row[i + 2 * step] >> shift);
            }
        }
    }

    @Override
    public void close() {
        images.close();
    }
}
