package io.clairfs.cache.dataset.rule;

import io.clairfs.cache.dataset.PythonText;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;

/**
 * timm's {@code natural_key}: the lower-cased string cut into text and runs of digits, digits compared as numbers. Digits are
 * those of all scripts, as in Python's {@code \d} and {@code int}. Source: timm/utils/misc.py.
 */
public final class NaturalOrder {
    /** Names as Python decodes them. */
    public static final Comparator<byte[]> PATHS = NaturalOrder::compare;

    private static final int END = -1;

    private NaturalOrder() {}

    private static int compare(byte[] a, byte[] b) {
        return compare(lowered(a), lowered(b));
    }

    /** The code points of {@code name.lower()}. */
    private static int[] lowered(byte[] name) {
        int[] points = new int[name.length];
        for (int i = 0; i < name.length; i++) {
            if (name[i] < 0) {
                return loweredUnicode(name);
            }
            points[i] = name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i];
        }
        return points;
    }

    private static int[] loweredUnicode(byte[] name) {
        int[] points = PythonText.decode(name);
        return new String(points, 0, points.length)
                .toLowerCase(Locale.ROOT)
                .codePoints()
                .toArray();
    }

    private static int compare(int[] a, int[] b) {
        int i = 0;
        int j = 0;
        while (true) {
            int x = textAt(a, i);
            int y = textAt(b, j);
            if (x != y) {
                return Integer.compare(x, y);
            } else if (x != END) {
                i++;
                j++;
            } else if (i == a.length || j == b.length) {
                return Integer.compare(a.length - i, b.length - j);
            } else {
                int endOfA = endOfDigits(a, i);
                int endOfB = endOfDigits(b, j);
                int order = compareNumbers(a, i, endOfA, b, j, endOfB);
                if (order != 0) {
                    return order;
                }
                i = endOfA;
                j = endOfB;
            }
        }
    }

    private static boolean isDigit(int point) {
        return point < 0x80 ? point >= '0' && point <= '9' : Character.isDigit(point);
    }

    /** The code point at {@code i}, or {@link #END} where the text ends: at a digit or after the last code point. */
    private static int textAt(int[] points, int i) {
        return i == points.length || isDigit(points[i]) ? END : points[i];
    }

    private static int endOfDigits(int[] points, int from) {
        int end = from;
        while (end < points.length && isDigit(points[end])) {
            end++;
        }
        return end;
    }

    private static int compareNumbers(int[] a, int fromA, int toA, int[] b, int fromB, int toB) {
        int[] x = significant(a, fromA, toA);
        int[] y = significant(b, fromB, toB);
        return x.length == y.length ? Arrays.compare(x, y) : Integer.compare(x.length, y.length);
    }

    /** The digits' values without leading zeros. */
    private static int[] significant(int[] points, int from, int to) {
        int first = from;
        while (first < to && Character.digit(points[first], 10) == 0) {
            first++;
        }
        int[] values = new int[to - first];
        for (int i = 0; i < values.length; i++) {
            values[i] = Character.digit(points[first + i], 10);
        }
        return values;
    }
}
