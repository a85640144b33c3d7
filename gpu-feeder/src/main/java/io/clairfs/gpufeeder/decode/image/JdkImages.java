package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.clairfs.gpufeeder.decode.BadSampleException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;
import javax.imageio.stream.MemoryCacheImageInputStream;
import org.jspecify.annotations.Nullable;

/** One of the JDK's image readers, over files in memory. */
final class JdkImages implements AutoCloseable {
    /** Of the JDK's warning that the file ends too early. */
    private static final String TRUNCATED = "Truncated File";

    private final String kind;
    private final ImageReader reader;
    private @Nullable String incomplete;

    /** What is read of an image. */
    @FunctionalInterface
    interface Reading<T> {
        T read(ImageReader reader) throws IOException;
    }

    /** {@code kind} is {@code JPEG} or {@code PNG}. */
    JdkImages(String kind) {
        this.kind = kind;
        Iterator<ImageReader> readers = ImageIO.getImageReadersByFormatName(kind);
        if (!readers.hasNext()) {
            throw new AssertionError("this JDK has no reader of " + kind + ": its module java.desktop is missing");
        }
        reader = readers.next();
        reader.addIIOReadWarningListener((_, warning) -> {
            if (warning.contains(TRUNCATED)) {
                incomplete = warning;
            }
        });
    }

    <T> T read(MemorySegment file, Reading<T> reading) throws BadSampleException {
        byte[] bytes = bytes(file);
        return read(bytes, bytes.length, reading);
    }

    /** The file, in an array of its own. */
    byte[] bytes(MemorySegment file) throws BadSampleException {
        if (file.byteSize() > Integer.MAX_VALUE - 8) {
            throw new BadSampleException(kind + " file of " + file.byteSize() + " bytes: too large");
        }
        return file.toArray(JAVA_BYTE);
    }

    /** Reads the first {@code length} bytes of {@code file}. */
    <T> T read(byte[] file, int length, Reading<T> reading) throws BadSampleException {
        incomplete = null;
        try (ImageInputStream in = new MemoryCacheImageInputStream(new ByteArrayInputStream(file, 0, length))) {
            reader.setInput(in, true, true);
            requireBounded(reader.getWidth(0), reader.getHeight(0));
            T read = reading.read(reader);
            if (incomplete != null) {
                throw new BadSampleException("truncated " + kind + " file: " + incomplete);
            }
            return read;
        } catch (BadSampleException e) {
            throw e;
        } catch (IOException
                | RuntimeException e) { // a damaged file can be an IllegalArgumentException of the reader, for one
            requireNoLackOfMemory(e);
            throw new BadSampleException("damaged " + kind + " file: " + oneLine(e), e);
        } finally {
            reader.setInput(null);
        }
    }

    private void requireBounded(int width, int height) throws BadSampleException {
        if (width > Pixels.LONGEST_SIDE || height > Pixels.LONGEST_SIDE || (long) width * height > Pixels.MOST_PIXELS) {
            throw new BadSampleException(kind + " file of " + width + "x" + height + " pixels: up to "
                    + Pixels.MOST_PIXELS + " are decoded, " + Pixels.LONGEST_SIDE + " a side");
        }
    }

    /** The reader wraps whatever it meets, but a file is not damaged by that. */
    private static void requireNoLackOfMemory(Exception e) {
        for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof OutOfMemoryError lack) {
                throw lack;
            }
        }
    }

    private static String oneLine(Exception e) {
        Throwable cause = e.getCause() != null && e.getMessage() == null ? e.getCause() : e;
        String message = cause.getMessage();
        return message == null ? "the JDK cannot decode it" : message.strip().replaceAll("\\s*\\R\\s*", " ");
    }

    @Override
    public void close() {
        reader.dispose();
    }
}
