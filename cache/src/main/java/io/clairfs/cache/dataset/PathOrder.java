package io.clairfs.cache.dataset;

import java.util.Arrays;
import java.util.Comparator;

/**
 * Orders names that are bytes.
 *
 * <p>{@link #BYTES} is the order in which directories are listed. {@link #CODE_POINTS} is Python's order of the decoded
 * strings: for valid UTF-8 the same as bytes, while a byte that is not UTF-8 becomes the lone surrogate U+DC00 + byte (PEP 383)
 * and so sorts between U+D7FF and U+E000. Java's own String order (UTF-16) is neither.
 */
public final class PathOrder {
    public static final Comparator<byte[]> BYTES = Arrays::compareUnsigned;
    public static final Comparator<byte[]> CODE_POINTS = PathOrder::compareCodePoints;

    private PathOrder() {}

    private static int compareCodePoints(byte[] a, byte[] b) {
        int differ = Arrays.mismatch(a, b);
        if (differ < 0) {
            return 0;
        }
        if (isAscii(a) && isAscii(b)) {
            return Arrays.compareUnsigned(a, b);
        }
        return Arrays.compare(PythonText.decode(a), PythonText.decode(b));
    }

    private static boolean isAscii(byte[] name) {
        for (byte c : name) {
            if (c < 0) {
                return false;
            }
        }
        return true;
    }
}
