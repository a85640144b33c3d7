package io.clairfs.fs.control;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The contents of open control files, bounded in number and in heap. One that is open alone may hold more heap. */
final class OpenContents {
    /** In place of a handle: the contents would hold too much heap. */
    static final long NONE = -1;

    private final int mostOpen;
    private final long mostBytes;
    private final ConcurrentHashMap<Long, ControlContent> open = new ConcurrentHashMap<>();
    private final AtomicLong handles = new AtomicLong();
    private final AtomicLong held = new AtomicLong();

    OpenContents(int mostOpen, long mostBytes) {
        this.mostOpen = mostOpen;
        this.mostBytes = mostBytes;
    }

    /** Whether the number allows one more. */
    boolean hasRoom() {
        return open.size() < mostOpen;
    }

    /** Keeps a content. Returns its handle, or {@link #NONE}. */
    long add(ControlContent content) {
        long bytes = content.heldBytes();
        long all = held.addAndGet(bytes);
        if (all > mostBytes && all > bytes) {
            held.addAndGet(-bytes);
            return NONE;
        }
        long handle = handles.incrementAndGet();
        open.put(handle, content);
        return handle;
    }

    @Nullable
    ControlContent get(long handle) {
        return open.get(handle);
    }

    void close(long handle) {
        ControlContent content = open.remove(handle);
        if (content != null) {
            held.addAndGet(-content.heldBytes());
        }
    }
}
