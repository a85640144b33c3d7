package io.clairfs.cache.posix;

/**
 * A descriptor that many threads use and one closes. Its number is released when the last use ends, never during one.
 *
 * <p>The kernel gives the number of a closed descriptor to the next file that the process opens. A thread that still used the number would
 * read or write another file.
 */
public final class SharedDescriptor implements AutoCloseable {
    private final int number;
    private int users;
    private boolean closed;

    /** Takes over {@code number}. */
    public SharedDescriptor(int number) {
        this.number = number;
    }

    /** Begins a use, which {@link #leave} ends. Returns false, and begins nothing, when it is closed. */
    public synchronized boolean enter() {
        if (!closed) {
            users++;
        }
        return !closed;
    }

    /** Whether the number was released. */
    public synchronized boolean isGivenBack() {
        return closed && users == 0;
    }

    /** The number, valid between {@link #enter} and {@link #leave}. */
    public int number() {
        return number;
    }

    /** Ends a use. */
    public synchronized void leave() {
        users--;
        closeUnused();
    }

    /** Refuses new uses; the end of the last use closes it. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            closeUnused();
        }
    }

    private void closeUnused() {
        if (closed && users == 0) {
            Posix.close(number);
        }
    }

    /** Makes it a descriptor of the file of {@code other}, for current uses too; its old file is closed. Does nothing once the number is released. */
    public synchronized void replaceBy(int other) throws PosixException {
        if (!closed || users > 0) {
            Posix.replace(number, other);
        }
    }
}
