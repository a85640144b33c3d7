package io.clairfs.cache.dataset.rule;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.ArrayList;
import java.util.List;

/**
 * The file extensions that a framework accepts, in any case.
 *
 * <p>They are ASCII. Apart from the Kelvin sign, no other letter has a lower case among theirs, so lowering ASCII does what Python's
 * {@code lower()} does.
 */
final class NameEnds {
    private final List<byte[]> ends;

    private NameEnds(List<byte[]> ends) {
        this.ends = ends;
    }

    /** The set of {@code extensions}, in lower case, each with its dot. */
    static NameEnds of(String... extensions) {
        List<byte[]> ends = new ArrayList<>();
        for (String extension : extensions) {
            ends.add(extension.getBytes(US_ASCII));
        }
        return new NameEnds(List.copyOf(ends));
    }

    /** Whether the name ends with one of them, or is one: {@code name.lower().endswith(...)}. */
    boolean matches(byte[] name) {
        return matches(name, name.length);
    }

    /** Whether {@code os.path.splitext} finds one of them; leading dots begin no extension. */
    boolean isExtension(byte[] name) {
        return isExtension(name, name.length);
    }

    private boolean isExtension(byte[] name, int length) {
        return extensionStart(name, length) < length && matches(name, length);
    }

    /** Whether {@link #isExtension} holds for the name with or without its last extension: {@code x.jpg.gz}. */
    boolean isExtensionOrTheOneBefore(byte[] name) {
        return isExtension(name) || isExtension(name, extensionStart(name, name.length));
    }

    /** Where the extension of {@code name[0..length)} begins with its dot, or {@code length} when there is none. */
    private static int extensionStart(byte[] name, int length) {
        int dot = length - 1;
        while (dot >= 0 && name[dot] != '.') {
            dot--;
        }
        for (int i = 0; i < dot; i++) {
            if (name[i] != '.') {
                return dot;
            }
        }
        return length;
    }

    private boolean matches(byte[] name, int length) {
        for (byte[] end : ends) {
            if (endsWith(name, length, end)) {
                return true;
            }
        }
        return false;
    }

    private static boolean endsWith(byte[] name, int length, byte[] lowerCaseEnd) {
        int shift = length - lowerCaseEnd.length;
        if (shift < 0) {
            return false;
        }
        for (int i = 0; i < lowerCaseEnd.length; i++) {
            byte c = name[shift + i];
            if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != lowerCaseEnd[i]) {
                return false;
            }
        }
        return true;
    }
}
