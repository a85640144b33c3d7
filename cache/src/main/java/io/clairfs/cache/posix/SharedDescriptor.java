package io.clairfs.cache.posix;

/**
 * A descriptor that many threads use and one closes: its number is given back to the system when the last use is over, never during one.
 *
 * <p>The kernel gives the number of a closed descriptor to the next file that the process opens. Who still used the number would read or
 * write somebody else's file.
 */
public final class SharedDescriptor implements AutoCloseable {
    private final int number;
    private int users;
    private boolean closed;

    /** Takes over {@code number}. */
    public SharedDescriptor(int number) {
        this.number = number;
    }

    /** Begins a use, which {@link #leave} ends. Returns false, and nothing begins, when it is closed. */
    public synchronized boolean enter() {
        if (!closed) {
            users++;
        }
        return !closed;
    }

    /** Whether the number was given back to the system. */
    public synchronized boolean isGivenBack() {
        return closed && users == 0;
    }

    /** The number, for whoever has entered. */
    public int number() {
        return number;
    }

    /** Ends a use. */
    public synchronized void leave() {
        users--;
        closeUnused();
    }

    /** Lets nobody in any more; the last user closes it. */
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

    /** Makes it a descriptor of {@code other}, for those who use it too; what it was open on is let go. Does nothing once it is closed. */
    public synchronized void replaceBy(int other) throws PosixException {
        if (!closed || users > 0) {
            Posix.replace(number, other);
        }
    }
}
