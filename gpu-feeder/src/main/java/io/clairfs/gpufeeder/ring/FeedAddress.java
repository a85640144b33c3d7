package io.clairfs.gpufeeder.ring;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.cache.posix.Readiness;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** A name at which a feeder waits for its trainer. It is no file, so nothing of it stays behind a killed feeder. */
public final class FeedAddress implements AutoCloseable {
    private static final int EADDRINUSE = 98;
    private static final int DIGITS = 32;

    private final int socket;

    private FeedAddress(int socket) {
        this.socket = socket;
    }

    /** The name for a rank of a job; clairfs_feed.py makes the same. */
    static String name(String mountPoint, String job, int rank) {
        try {
            byte[] what = (mountPoint + "\n" + job + "\n" + rank).getBytes(UTF_8);
            String digest = HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(what));
            return "\0clairfs-feed-" + ProcessIdentity.userId() + "-" + digest.substring(0, DIGITS);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    /**
     * Begins to listen.
     *
     * @param mountPoint without links
     * @throws IOException when another feeder has this rank
     */
    public static FeedAddress listen(String mountPoint, String job, int rank) throws IOException {
        try {
            return new FeedAddress(LocalSocket.listen(name(mountPoint, job, rank)));
        } catch (PosixException e) {
            if (e.errno() == EADDRINUSE) {
                throw new IOException(
                        "rank " + rank + " of the job '" + job + "' at " + mountPoint
                                + " has a feeder already: end that one, or feed another rank",
                        e);
            }
            throw e;
        }
    }

    /** Waits for a trainer, {@code timeoutMs} at most. Returns null on a timeout. */
    public @Nullable TrainerConnection accept(int timeoutMs) throws IOException {
        return Readiness.await(timeoutMs, socket) ? TrainerConnection.of(LocalSocket.accept(socket)) : null;
    }

    @Override
    public void close() {
        Posix.close(socket);
    }
}
