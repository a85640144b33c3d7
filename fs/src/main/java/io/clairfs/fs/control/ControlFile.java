package io.clairfs.fs.control;

/** One control file. Its content is made when it is opened, so that a reader sees one moment throughout. */
@FunctionalInterface
public interface ControlFile {
    /**
     * The content now.
     *
     * @throws UnavailableException when there is none to be had now; who opens the file gets its errno
     */
    ControlContent content() throws UnavailableException;

    /** Whether it takes lines. */
    default boolean isWritable() {
        return false;
    }

    /**
     * Takes what was written to it.
     *
     * @throws RejectedException when it is not taken; then it has changed nothing
     */
    default void accept(String text) throws RejectedException {
        throw new RejectedException("this file is read only");
    }

    /** Takes note of something that was refused before it was read. */
    default void refused(String reason) {}

    /** What was written is not acceptable; the writer gets EINVAL. */
    final class RejectedException extends Exception {
        private static final long serialVersionUID = 1L;

        public RejectedException(String message) {
            super(message);
        }
    }

    /** A file that is empty would say something else. */
    final class UnavailableException extends Exception {
        private static final long serialVersionUID = 1L;

        private final int errno;

        public UnavailableException(int errno) {
            super("errno " + errno);
            this.errno = errno;
        }

        public int errno() {
            return errno;
        }
    }
}
