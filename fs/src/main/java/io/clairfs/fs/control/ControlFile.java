package io.clairfs.fs.control;

/** One control file. Its content is made at open, so that a reader sees one moment throughout. */
@FunctionalInterface
public interface ControlFile {
    /**
     * The content now.
     *
     * @throws UnavailableException when there is none now; the open fails with its errno
     */
    ControlContent content() throws UnavailableException;

    /** Whether it takes lines. */
    default boolean isWritable() {
        return false;
    }

    /**
     * Takes written text.
     *
     * @throws RejectedException when the text is refused; then nothing has changed
     * @throws UnavailableException when it cannot be told now whether the text is right; then nothing has changed, and the write fails with its errno
     */
    default void accept(String text) throws RejectedException, UnavailableException {
        throw new RejectedException("this file is read only");
    }

    /** Notes a write that was refused before its text was read. */
    default void refused(String reason) {}

    /** The written text was refused; the writer gets EINVAL. */
    final class RejectedException extends Exception {
        private static final long serialVersionUID = 1L;

        public RejectedException(String message) {
            super(message);
        }
    }

    /** There is no content now, as an empty file would say something else; or it cannot be told now whether a text is right. */
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
