package io.clairfs.cache.tier.ssd;

/**
 * Removes a known prefix from a CRC32C. A checksum is a remainder of polynomials over GF(2), so the checksum of two parts is that of the
 * first, shifted by the length of the second, plus that of the second; as in zlib's crc32_combine.
 */
final class Crc32cSum {
    private static final int POLYNOMIAL = 0x82F63B78; // reflected: the highest bit stands for x to the power of 0
    private static final int ONE = 0x80000000;

    /** x to the power of 2 to the power of i. */
    private static final int[] POWERS = powers();

    private Crc32cSum() {}

    private static int[] powers() {
        int[] powers = new int[Long.SIZE];
        int power = ONE >>> 1;
        for (int i = 0; i < powers.length; i++) {
            powers[i] = power;
            power = product(power, power);
        }
        return powers;
    }

    /** The product of two polynomials, reduced. */
    private static int product(int a, int b) {
        int product = 0;
        int shifted = b;
        for (int rest = a; rest != 0; rest <<= 1) {
            if (rest < 0) {
                product ^= shifted;
            }
            shifted = shifted >>> 1 ^ ((shifted & 1) == 0 ? 0 : POLYNOMIAL);
        }
        return product;
    }

    /**
     * The checksum of the second part.
     *
     * @param whole checksum of both parts
     * @param first checksum of the first part
     * @param secondBytes bytes of the second part
     */
    static int second(int whole, int first, long secondBytes) {
        int moved = first;
        long bits = secondBytes * Byte.SIZE;
        for (int i = 0; bits != 0; i++, bits >>>= 1) {
            if ((bits & 1) != 0) {
                moved = product(POWERS[i], moved);
            }
        }
        return whole ^ moved;
    }
}
