package io.clairfs.tools.mount;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/** Parts started one after the other. Closing ends them in the reverse order, all of them, even if one fails. */
final class Parts implements AutoCloseable {
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    <T extends AutoCloseable> T add(T part) {
        parts.push(part);
        return part;
    }

    @Override
    public void close() throws IOException {
        IOException failed = null;
        while (!parts.isEmpty()) {
            try {
                parts.pop().close();
            } catch (Exception e) {
                failed = failed == null ? new IOException("while ending what a test began", e) : failed;
            }
        }
        if (failed != null) {
            throw failed;
        }
    }
}
