package io.clairfs.cache.view;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.Source.SourceFile;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceUnfitException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * What a mount shows of a source: its files as they are, or what a {@link Transform} makes of them.
 *
 * <p>The size of what is made is known before the first read: it follows from the first bytes of a file, which are read when the dataset is
 * listed. A file of which nothing can be made has the source's size, and every read of it fails. Thread-safe.
 */
public final class View {
    /** The first bytes that are read of a file: most headers end there. */
    private static final long HEAD_BYTES = 16 << 10;

    /** Each further look takes so many times as many. */
    private static final int HEAD_GROWS = 8;

    /** A header that has not ended by then counts as damaged. */
    private static final long MOST_HEAD_BYTES = 16 << 20;

    private final @Nullable Transform transform;
    private volatile KeptForm kept;
    private final LongAdder headersRead = new LongAdder();
    private final LongAdder made = new LongAdder();

    private View(@Nullable Transform transform, KeptForm kept) {
        this.transform = transform;
        this.kept = kept;
    }

    /** The files as they are. */
    public static View raw() {
        return new View(null, KeptForm.MADE);
    }

    /** What {@code transform} makes of them. */
    public static View of(Transform transform) {
        return new View(transform, KeptForm.MADE);
    }

    /** The same view, where tiers and peers hold {@code form}. To be called before it is used. */
    public View keeping(KeptForm form) {
        return transform == null ? this : new View(transform, form);
    }

    /** What tiers and peers hold of files of which samples are made. */
    public KeptForm kept() {
        return kept;
    }

    /** Decides what is kept, once, if that is not decided yet. */
    public synchronized void decide(KeptForm form) {
        if (kept == KeptForm.UNDECIDED) {
            kept = form;
        }
    }

    /** Whether the source's files are kept, rather than what is made of them. */
    public boolean keepsSource() {
        return kept == KeptForm.RAW;
    }

    /** Whether all files are shown as they are. */
    public boolean isRaw() {
        return transform == null;
    }

    /** The transformation's identity; empty for the raw view. */
    public String identity() {
        return transform == null ? "" : transform.identity();
    }

    /** {@code name}, made different for each view; as it is for the raw one. A name has no zero bytes. */
    public byte[] distinguish(byte[] name) {
        if (transform == null) {
            return name;
        }
        byte[] identity = transform.identity().getBytes(UTF_8);
        byte[] both = new byte[name.length + 1 + identity.length];
        System.arraycopy(name, 0, both, 0, name.length);
        System.arraycopy(identity, 0, both, name.length + 1, identity.length);
        return both;
    }

    /** How many headers have been read for sizes. */
    public long headersRead() {
        return headersRead.sum();
    }

    /** How many samples have been made. */
    public long made() {
        return made.sum();
    }

    /**
     * Bytes of what is made of a file, its own size when nothing can be made of it, {@link Transform#AS_IT_IS} when it is shown as it is. Reads its
     * first bytes.
     */
    public long madeBytes(Source source, SourceFile file) throws SourceException {
        if (transform == null) {
            return Transform.AS_IT_IS;
        }
        headersRead.increment();
        try {
            for (long bytes = HEAD_BYTES; ; bytes *= HEAD_GROWS) {
                long made = madeBytes(transform, source, file, Math.min(bytes, file.size()));
                if (made != Transform.UNTOLD) {
                    return made;
                }
                if (bytes >= Math.min(MOST_HEAD_BYTES, file.size())) {
                    return file.size();
                }
            }
        } catch (UnfitFileException e) {
            return file.size();
        }
    }

    private static long madeBytes(Transform transform, Source source, SourceFile file, long bytes)
            throws SourceException, UnfitFileException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment head = arena.allocate(bytes);
            source.read(file, 0, head);
            return transform.madeBytes(head, file.size());
        }
    }

    /**
     * Makes what is shown of a file that is not shown as it is.
     *
     * @param bytes the whole file
     * @param into filled; of the listed size
     * @throws SourceUnfitException when nothing can be made of it
     */
    public void make(SourceFile file, MemorySegment bytes, MemorySegment into) throws SourceUnfitException {
        if (transform == null) {
            throw new AssertionError("the raw view makes nothing");
        }
        try {
            transform.make(bytes, into);
            made.increment();
        } catch (UnfitFileException e) {
            throw new SourceUnfitException(new String(file.path(), UTF_8) + ": " + e.getMessage(), e);
        }
    }
}
