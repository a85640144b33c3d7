package io.clairfs.gpufeeder.decode;

/** The type of one element of a batch, little-endian. */
public enum ElementType {
    UINT8("|u1", 1),
    INT16("<i2", 2),
    INT32("<i4", 4),
    INT64("<i8", 8),
    FLOAT16("<f2", 2),
    FLOAT32("<f4", 4),
    FLOAT64("<f8", 8);

    private final String typestr;
    private final int bytes;

    ElementType(String typestr, int bytes) {
        this.typestr = typestr;
        this.bytes = bytes;
    }

    /** As numpy's array interface writes it. */
    public String typestr() {
        return typestr;
    }

    public int bytes() {
        return bytes;
    }
}
