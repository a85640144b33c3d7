package io.clairfs.fs.protocol;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.ExclusiveWait;
import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.SharedDescriptor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * The threads that take requests from the kernel.
 *
 * <p>Each answers what it took before it takes the next, so a request that is answered at once costs no hand-over. While one may wait for a slow
 * store another must be there to take the next: a thread that takes a request and leaves none waiting for the next one starts another, up to a bound. What is
 * above a few that wait ends.
 *
 * <p>They wait in {@code epoll}, not in a read: a thread that is killed while it waits in a read of the device takes one more request, cannot copy it any
 * more, and the kernel then fails the request with EIO. See docs/decisions/restart.md.
 *
 * <p>A thread counts as one that waits from its start until it says that it has taken a request, cannot begin, or has met the end of the connection.
 * After the end, whichever of these leaves nobody waiting completes {@link #ended}, with the channel left and the lock free.
 *
 * <p>Where no further thread can be started, and those that are there are all busy, a keeper tries again: they may be busy for as long as a dead source
 * says nothing, and requests that nobody takes have no timeout.
 */
final class RequestThreads {
    private static final Logger LOG = System.getLogger(RequestThreads.class.getName());

    /** Bytes of the largest request: the smallest buffer that the kernel allows is half as large, and a flood of forgotten nodes takes more. */
    private static final int LARGEST_REQUEST = 16 * 1024;

    /** Those that wait for a request beyond so many are not needed. */
    private static final int MOST_IDLE = 10;

    private static final long START_AGAIN_MS = 500;

    private final String name;
    private final SharedDescriptor channel;
    private final Consumer<KernelRequest> dispatcher;
    private final int most;
    private final Waits waits;
    private final CompletableFuture<Integer> ended = new CompletableFuture<>();
    private int threads;
    private int idle;
    private int started;
    private boolean over;

    /** Whether nobody waits because none could be started. */
    private boolean lacksOne;

    /** Makes the wait of a thread. */
    @FunctionalInterface
    interface Waits {
        ExclusiveWait at(int descriptor) throws PosixException;
    }

    /**
     * None yet.
     *
     * @param name of each, with a number behind it
     * @param dispatcher has a request answered, and never throws
     * @param most how many there may be
     */
    RequestThreads(String name, SharedDescriptor channel, Consumer<KernelRequest> dispatcher, int most) {
        this(name, channel, dispatcher, most, ExclusiveWait::of);
    }

    /** The same, whose threads wait as {@code waits} makes them. */
    RequestThreads(String name, SharedDescriptor channel, Consumer<KernelRequest> dispatcher, int most, Waits waits) {
        this.name = name;
        this.channel = channel;
        this.dispatcher = dispatcher;
        this.most = most;
        this.waits = waits;
    }

    /** Completes when the kernel has ended the connection and nobody waits for requests any more. */
    CompletableFuture<Integer> ended() {
        return ended;
    }

    /**
     * Starts the first.
     *
     * @throws PosixException also if the system gives no thread
     */
    synchronized void start() throws PosixException {
        if (channel.enter()) {
            try {
                Posix.doNotWait(channel.number());
            } finally {
                channel.leave();
            }
        }
        startOne();
        if (threads == 0) {
            throw new PosixException("clone", Errno.EAGAIN);
        }
        try {
            Thread _ = Thread.ofPlatform().daemon().name("request-keeper").start(this::keep);
        } catch (OutOfMemoryError e) {
            log(Level.WARNING, "none looks after the threads for requests", e);
        }
    }

    private synchronized void keep() {
        try {
            while (!over) {
                if (!lacksOne) {
                    wait();
                } else {
                    wait(START_AGAIN_MS);
                    lacksOne = false;
                    if (!over && idle == 0 && threads < most) {
                        startOne();
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void startOne() {
        threads++;
        idle++;
        started++;
        try {
            Thread.ofPlatform().daemon().name(name + "-" + started).start(this::run);
        } catch (Throwable e) { // the system gives no thread
            notStarted(e);
        }
    }

    /** One that waits, or should, does not. Those that are there go on. */
    private void notStarted(Throwable reason) {
        boolean last;
        int left;
        synchronized (this) {
            threads--;
            idle--;
            left = threads;
            lacksOne = idle == 0;
            notifyAll();
            last = nobodyWaitsAfterTheEnd();
        }
        log(Level.WARNING, "no further thread for requests, there are " + left, reason);
        if (last) {
            ended.complete(0);
        }
    }

    private synchronized boolean nobodyWaitsAfterTheEnd() {
        return over && idle == 0;
    }

    private void run() {
        if (!channel.enter()) {
            stop();
            return;
        }
        ExclusiveWait wait;
        KernelRequest request;
        MemorySegment buffer;
        try {
            try {
                buffer = Arena.ofAuto().allocate(LARGEST_REQUEST, 8);
                request = new KernelRequest(buffer);
                ReplyMessage _ = ReplyMessage.ofThread(); // a request that is taken has to be answered
                wait = waits.at(channel.number());
            } finally {
                channel.leave();
            }
        } catch (PosixException | OutOfMemoryError e) { // as a thread that the system does not give
            notStarted(e);
            return;
        }
        try (wait) {
            takeRequests(wait, buffer, request);
        } catch (Throwable t) {
            notStarted(t);
        }
    }

    private void takeRequests(ExclusiveWait wait, MemorySegment buffer, KernelRequest request) {
        while (true) {
            long n = read(buffer, wait);
            if (n >= KernelRequest.HEADER_BYTES) {
                taken(request.isRepeated());
                answer(request);
                if (!isStillNeeded()) {
                    return;
                }
            } else if (!isToBeRepeated(n)) {
                stop();
                return;
            }
        }
    }

    private void answer(KernelRequest request) {
        try {
            dispatcher.accept(request);
        } catch (Throwable t) { // the thread goes on: others would not know that it is gone
            log(Level.ERROR, "a request", t);
        }
    }

    /** Where memory is short, telling it may fail as well. */
    private void log(Level level, String what, Throwable reason) {
        try {
            LOG.log(level, name + ": " + what, reason);
        } catch (Throwable untold) {
            // The threads are worth more than the line.
        }
    }

    private long read(MemorySegment buffer, ExclusiveWait wait) {
        if (!channel.enter()) {
            return -Errno.ENODEV;
        }
        try {
            long n = MessageIo.read(channel.number(), buffer);
            while (n == -Errno.EAGAIN) {
                wait.await();
                n = MessageIo.read(channel.number(), buffer);
            }
            return n;
        } finally {
            channel.leave();
        }
    }

    /** Who asked was killed before his request was taken, or a signal came. What else fails is the end of the connection. */
    private static boolean isToBeRepeated(long n) {
        return n == -Errno.ENOENT || n == -Errno.EINTR;
    }

    /**
     * The kernel puts all that it repeats in its queue at once, and wakes one thread for it: a further one looks for the next. The connection may have
     * ended since the request was read, and all others may have gone.
     */
    private void taken(boolean repeated) {
        boolean last;
        synchronized (this) {
            idle--;
            if ((idle == 0 || repeated) && threads < most && !over) {
                startOne();
            }
            last = nobodyWaitsAfterTheEnd();
        }
        if (last) {
            ended.complete(0);
        }
    }

    private synchronized boolean isStillNeeded() {
        // After the end of the connection only threads that wait at the channel may touch it.
        if (over || idle >= MOST_IDLE) {
            threads--;
            return false;
        }
        idle++;
        return true;
    }

    /** One that waited for a request does so no more, for the connection is over. Who is still busy with a request keeps nobody waiting. */
    private void stop() {
        boolean last;
        synchronized (this) {
            over = true;
            threads--;
            idle--;
            notifyAll();
            last = nobodyWaitsAfterTheEnd();
        }
        if (last) {
            ended.complete(0);
        }
    }
}
