package io.clairfs.cache.dataset;

import java.util.Arrays;

/** Bytes as the code points that Python makes of a file name: UTF-8 with surrogateescape (PEP 383). */
public final class PythonText {
    private PythonText() {}

    /** The code points; a byte outside valid UTF-8 becomes {@code 0xDC00 + byte}. */
    public static int[] decode(byte[] name) {
        int[] points = new int[name.length];
        int count = 0;
        for (int at = 0; at < name.length; ) {
            int length = sequenceLength(name, at);
            if (length == 0) {
                points[count++] = 0xDC00 + (name[at] & 0xff);
                at++;
            } else {
                points[count++] = decode(name, at, length);
                at += length;
            }
        }
        return Arrays.copyOf(points, count);
    }

    /** The name for a message: a byte that is not UTF-8 is shown as {@code \\xNN}. */
    public static String show(byte[] name) {
        StringBuilder text = new StringBuilder(name.length);
        for (int point : decode(name)) {
            if (point >= 0xDC80 && point <= 0xDCFF) {
                text.append(String.format("\\x%02x", point - 0xDC00));
            } else {
                text.appendCodePoint(point);
            }
        }
        return text.toString();
    }

    /** The bytes of the valid UTF-8 sequence (Unicode table 3-7) at {@code at}, or 0 when there is none. */
    private static int sequenceLength(byte[] s, int at) {
        int lead = s[at] & 0xff;
        if (lead < 0x80) {
            return 1;
        }
        int low = 0x80;
        int high = 0xBF;
        int length;
        if (lead >= 0xC2 && lead <= 0xDF) {
            length = 2;
        } else if (lead >= 0xE0 && lead <= 0xEF) {
            length = 3;
            low = lead == 0xE0 ? 0xA0 : low;
            high = lead == 0xED ? 0x9F : high;
        } else if (lead >= 0xF0 && lead <= 0xF4) {
            length = 4;
            low = lead == 0xF0 ? 0x90 : low;
            high = lead == 0xF4 ? 0x8F : high;
        } else {
            return 0;
        }
        if (at + length > s.length || !within(s[at + 1], low, high)) {
            return 0;
        }
        for (int i = 2; i < length; i++) {
            if (!within(s[at + i], 0x80, 0xBF)) {
                return 0;
            }
        }
        return length;
    }

    private static boolean within(byte value, int low, int high) {
        int v = value & 0xff;
        return v >= low && v <= high;
    }

    private static int decode(byte[] s, int at, int length) {
        int lead = s[at] & 0xff;
        int point = length == 1 ? lead : lead & (0x7f >> length);
        for (int i = 1; i < length; i++) {
            point = point << 6 | (s[at + i] & 0x3f);
        }
        return point;
    }
}
