package io.clairfs.fs.protocol;

import io.clairfs.fs.mount.FuseCallbacks.Operation;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The kernel's requests, by the protocol's numbers. */
enum Opcode {
    LOOKUP(1, Operation.GETATTR),
    FORGET(2),
    GETATTR(3, Operation.GETATTR),
    SETATTR(4),
    READLINK(5, Operation.READLINK),
    SYMLINK(6),
    MKNOD(8),
    MKDIR(9),
    UNLINK(10),
    RMDIR(11),
    RENAME(12),
    LINK(13),
    OPEN(14, Operation.OPEN),
    READ(15, Operation.READ),
    WRITE(16),
    STATFS(17),
    RELEASE(18),
    FSYNC(20),
    SETXATTR(21),
    REMOVEXATTR(24),
    FLUSH(25, Operation.FLUSH),
    INIT(26),
    OPENDIR(27),
    READDIR(28, Operation.READDIR),
    RELEASEDIR(29),
    FSYNCDIR(30),
    CREATE(35),
    INTERRUPT(36),
    DESTROY(38),
    IOCTL(39, Operation.IOCTL),
    BATCH_FORGET(42),
    FALLOCATE(43),
    READDIRPLUS(44, Operation.READDIR),
    RENAME2(45),
    TMPFILE(51);

    private static final @Nullable Opcode[] BY_NUMBER = new @Nullable Opcode[64];

    static {
        for (Opcode opcode : values()) {
            BY_NUMBER[opcode.number] = opcode;
        }
    }

    private final int number;
    private final @Nullable Operation counted;

    Opcode(int number) {
        this(number, null);
    }

    Opcode(int number, @Nullable Operation counted) {
        this.number = number;
        this.counted = counted;
    }

    /** The opcode with this number; null for those that a read-only tree does not know. */
    static @Nullable Opcode of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
    }

    int number() {
        return number;
    }

    /** The operation that it counts as; null if it is not counted. */
    @Nullable
    Operation counted() {
        return counted;
    }

    /** In lower case, as the kernel's calls are written. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
