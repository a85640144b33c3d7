package io.clairfs.gpufeeder.decode.array;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.SampleFormat;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/**
 * The header of a wav file in its shortest form, 44 bytes: RIFF, a format of 16 bytes, the data (IBM and Microsoft, "Multimedia Programming Interface
 * and Data Specifications 1.0"). Other forms have parts between these, or a longer format, and are refused.
 *
 * @param frames how many samples of sound each channel has
 * @param rate frames a second
 */
record WavHeader(int channels, int rate, int frames) {
    static final int BYTES = 44;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int FORMAT_BYTES = 16;
    private static final int PCM = 1;
    private static final int BITS = 16;

    /**
     * Checks and reads a header.
     *
     * @param file the beginning of a file, at least 44 bytes of it if it has them
     * @param fileBytes the length of the whole file
     */
    static WavHeader of(MemorySegment file, long fileBytes) throws BadSampleException {
        if (file.byteSize() < BYTES || fileBytes < BYTES || !isText(file, 0, "RIFF") || !isText(file, 8, "WAVE")) {
            throw new BadSampleException("not a wav file: it does not begin with RIFF and WAVE");
        }
        if (!isText(file, 12, "fmt ") || file.get(INT, 16) != FORMAT_BYTES || !isText(file, 36, "data")) {
            throw new BadSampleException(
                    "wav file with a header of other than 44 bytes: only fmt of 16 bytes, then data, is taken");
        }
        int coding = file.get(SHORT, 20) & 0xFFFF;
        int channels = file.get(SHORT, 22) & 0xFFFF;
        int rate = file.get(INT, 24);
        int frameBytes = file.get(SHORT, 32) & 0xFFFF;
        int bits = file.get(SHORT, 34) & 0xFFFF;
        if (coding != PCM || bits != BITS) {
            throw new BadSampleException(
                    "wav file of coding " + coding + " and " + bits + " bits: only PCM (1) of 16 is taken");
        }
        if (channels < 1 || channels > 2) {
            throw new BadSampleException("wav file of " + channels + " channels: mono and stereo are taken");
        }
        long bytes = Integer.toUnsignedLong(file.get(INT, 40));
        if (frameBytes != channels * Short.BYTES || bytes == 0 || bytes % frameBytes != 0) {
            throw new BadSampleException(
                    "damaged wav file: " + bytes + " bytes of data in frames of " + frameBytes + " bytes");
        }
        if (fileBytes < BYTES + bytes) {
            throw new BadSampleException(
                    "truncated wav file: " + fileBytes + " bytes, its data end at " + (BYTES + bytes));
        }
        return new WavHeader(channels, rate, (int) (bytes / frameBytes));
    }

    /** One dimension for mono, {@code [frames, 2]} for stereo. */
    SampleFormat format() {
        return new SampleFormat(ElementType.INT16, channels == 1 ? List.of(frames) : List.of(frames, channels));
    }

    private static boolean isText(MemorySegment file, long at, String text) {
        return new String(file.asSlice(at, text.length()).toArray(JAVA_BYTE), ISO_8859_1).equals(text);
    }

    @Override
    public String toString() {
        return frames + " frames of " + channels + " channels at " + Integer.toUnsignedString(rate) + " Hz";
    }
}
