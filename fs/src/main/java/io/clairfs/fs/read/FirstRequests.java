package io.clairfs.fs.read;

/** Hears of each request for the beginning of a file, one for each open whose bytes the page cache does not have, and of each close. */
public interface FirstRequests {
    /** Hears of none. */
    FirstRequests IGNORED = new FirstRequests() {
        @Override
        public void asked(int thread, int file) {}

        @Override
        public void closed(int[] files, int count) {}
    };

    /**
     * A thread asks for a file. Runs on the thread that answers it, so it must not wait; many threads at once.
     *
     * @param thread the system's number of the thread that reads; 0 if not known, as from outside this process's namespace
     * @param file the file's number in the tree
     */
    void asked(int thread, int file);

    /** Readers have closed the first {@code count} of these files, in this order, wherever their bytes came from. It must not wait. */
    void closed(int[] files, int count);
}
