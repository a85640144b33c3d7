package io.clairfs.fs.mount;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.SharedDescriptor;
import io.clairfs.fs.mount.FuseCallbacks.Operation;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A mount that libfuse serves: a small one, whose paths are strings and whose files are live.
 *
 * <p>Life cycle: as that of {@link MountedSession}. {@link #mount} runs libfuse's blocking main loop on a thread of its own; the loop ends with the
 * connection. Locks: it has none of its own. It starts under that of {@link MountedSession}, because libfuse's descriptor is found as the one that
 * appears meanwhile. Callbacks run on libfuse's threads, many at once, without a lock.
 */
public final class FuseSession extends MountedSession {
    private static final Logger LOG = System.getLogger(FuseSession.class.getName());

    private final GuardedCallbacks callbacks;

    /** libfuse's own descriptor, which it closes when the loop ends. */
    private final int descriptor;

    private FuseSession(
            Path point, CompletableFuture<Integer> ended, GuardedCallbacks callbacks, int descriptor, int copy) {
        super(point, ended, new SharedDescriptor(copy));
        this.callbacks = callbacks;
        this.descriptor = descriptor;
    }

    /**
     * Mounts {@code callbacks} at {@code point}, an empty directory.
     *
     * @param options as after {@code -o}
     * @throws MountException with the reason when it cannot be mounted
     */
    public static FuseSession mount(Path point, List<String> options, FuseCallbacks callbacks, ErrnoTable errnos)
            throws IOException {
        return begin(() -> start(point, options, callbacks, errnos));
    }

    /** As {@link #mount}, for a process that the supervisor of another has started: no watchdog ends this session. */
    public static FuseSession mountSupervised(
            Path point, List<String> options, FuseCallbacks callbacks, ErrnoTable errnos) throws IOException {
        return beginSupervised(() -> start(point, options, callbacks, errnos), null);
    }

    /**
     * Loads what a mount loads: libfuse, and what is between it and Java. Mounts nothing.
     *
     * @throws MountException with the reason when it cannot be loaded, so that nothing could be mounted
     */
    public static void requireLibrary() throws MountException {
        Native.require();
    }

    private static FuseSession start(Path point, List<String> options, FuseCallbacks callbacks, ErrnoTable errnos)
            throws IOException {
        requireLibrary();
        Set<Integer> strangers = unknownDescriptors();
        Arena arena = Arena.ofShared();
        GuardedCallbacks guarded = new GuardedCallbacks(callbacks, errnos, arena);
        CompletableFuture<Integer> ended = run(point, options, guarded, arena);
        awaitInit(point, guarded, ended);
        return of(point, ended, guarded, strangers);
    }

    private static FuseSession of(
            Path point, CompletableFuture<Integer> ended, GuardedCallbacks guarded, Set<Integer> strangers)
            throws IOException {
        try {
            int descriptor = freshDescriptor(strangers);
            return new FuseSession(point, ended, guarded, descriptor, Posix.duplicate(descriptor));
        } catch (IOException e) {
            Fusermount.detach(point);
            throw e;
        }
    }

    /**
     * Finds the descriptor that libfuse has opened. It may have the number of an earlier session that has just ended. So what counts is which
     * session a number belongs to, not whether it was there before. That session's end may not be known yet, so this looks again for a while.
     */
    private static int freshDescriptor(Set<Integer> strangers) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_TIMEOUT_MS);
        while (true) {
            Set<Integer> fresh = unknownDescriptors();
            fresh.removeAll(strangers);
            if (fresh.size() == 1) {
                return fresh.iterator().next();
            }
            if (System.nanoTime() > deadline) {
                throw new MountException(
                        "the FUSE session's descriptor was not found among this process's descriptors");
            }
            try {
                TimeUnit.MILLISECONDS.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new MountException("interrupted while mounting");
            }
        }
    }

    @Override
    Set<Integer> libraryDescriptors() {
        return ended().isDone() ? Set.of() : Set.of(descriptor);
    }

    private static CompletableFuture<Integer> run(
            Path point, List<String> options, GuardedCallbacks guarded, Arena arena) {
        List<String> arguments =
                new ArrayList<>(List.of("clairfs", point.toString(), "-f", "-o", String.join(",", options)));
        CompletableFuture<Integer> ended = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("fuse " + point).start(() -> {
            try {
                ended.complete(Native.libfuse()
                        .fuse_main_real(
                                arguments.size(),
                                arguments.toArray(String[]::new),
                                guarded.operations(),
                                jnr.ffi.Struct.size(guarded.operations()),
                                null));
                arena.close();
            } catch (Throwable t) {
                LOG.log(Level.ERROR, "the FUSE session of " + point + " failed", t);
                ended.complete(-1);
            }
        });
        return ended;
    }

    private static void awaitInit(Path point, GuardedCallbacks guarded, CompletableFuture<Integer> ended)
            throws MountException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_TIMEOUT_MS);
        try {
            while (!guarded.initialized().await(1, TimeUnit.MILLISECONDS)) {
                if (ended.isDone()) {
                    throw new MountException("libfuse refused to mount " + point + "; its own line says why");
                }
                if (System.nanoTime() > deadline) {
                    throw new MountException(
                            "the kernel did not accept the mount at " + point + " within " + START_TIMEOUT_MS + " ms");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MountException("interrupted while mounting " + point);
        }
    }

    @Override
    public long requests(Operation operation) {
        return callbacks.requests(operation);
    }
}
