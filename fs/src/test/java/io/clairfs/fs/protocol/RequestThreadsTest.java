package io.clairfs.fs.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.ExclusiveWait;
import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.SharedDescriptor;
import io.clairfs.cache.posix.SocketPair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A socket stands for the kernel; it is given one request at a time. */
@Timeout(120)
final class RequestThreadsTest {
    private static final int MOST = 20;
    private static final long GENEROUS_S = 60;
    private static final AtomicInteger TESTS = new AtomicInteger();

    /** Of this test's threads alone: those of another may end later than it does. */
    private final String name = "test-request-" + TESTS.incrementAndGet();

    private final Arena arena = Arena.ofShared();
    private final BlockingQueue<Thread> taken = new LinkedBlockingQueue<>();
    private final CountDownLatch gate = new CountDownLatch(1);
    private volatile boolean failing;
    private int kernel;
    private SharedDescriptor channel;
    private RequestThreads threads;

    @BeforeEach
    void connect() throws Exception {
        connect(ExclusiveWait::of);
    }

    private void connect(RequestThreads.Waits waits) throws Exception {
        int[] both = SocketPair.open();
        kernel = both[0];
        channel = new SharedDescriptor(both[1]);
        threads = new RequestThreads(name, channel, this::hold, MOST, waits);
        threads.start();
    }

    /** Ends the connection that is there and makes another, whose threads wait as {@code waits} makes them. */
    private void reconnect(RequestThreads.Waits waits) throws Exception {
        endConnection();
        connect(waits);
    }

    @AfterEach
    void close() {
        gate.countDown();
        arena.close();
    }

    private void hold(KernelRequest request) {
        boolean fails = failing;
        taken.add(Thread.currentThread());
        if (fails) {
            throw new IllegalStateException("a bug");
        }
        awaitOpen(gate);
    }

    private static void awaitOpen(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void send() {
        MemorySegment request = arena.allocate(KernelRequest.HEADER_BYTES, 8);
        MemorySegment piece = arena.allocate(MessageIo.IOVEC_BYTES, 8);
        MessageIo.piece(piece, 0, request.address(), request.byteSize());
        assertThat(MessageIo.writev(kernel, piece, 1)).isZero();
    }

    private void end() throws Exception {
        gate.countDown();
        endConnection();
    }

    private void endConnection() throws Exception {
        Posix.close(kernel);
        assertThat(threads.ended().get(GENEROUS_S, TimeUnit.SECONDS)).isZero();
        channel.close();
        assertThat(channel.isGivenBack()).isTrue();
    }

    @Test
    void requestsThatWait_keepNoOtherFromBeingTaken() throws Exception {
        for (int i = 0; i < MOST; i++) {
            send();
            assertThat(taken.poll(GENEROUS_S, TimeUnit.SECONDS)).isNotNull();
        }
        end();
    }

    @Test
    void threads_areBounded_andTheRequestThatIsLeftIsTakenWhenOneIsFree() throws Exception {
        for (int i = 0; i < MOST; i++) {
            send();
            assertThat(taken.poll(GENEROUS_S, TimeUnit.SECONDS)).isNotNull();
        }
        send();
        gate.countDown();
        assertThat(taken.poll(GENEROUS_S, TimeUnit.SECONDS)).isNotNull();
        assertThat(Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().startsWith(name + "-"))
                        .count())
                .isLessThanOrEqualTo(MOST);
        end();
    }

    @Test
    void threadThatCannotBegin_isDoneWithout_andTheMountGoesOn() throws Exception {
        AtomicInteger begun = new AtomicInteger();
        CompletableFuture<Thread> second = new CompletableFuture<>();
        reconnect(fd -> {
            if (begun.incrementAndGet() == 2) {
                second.complete(Thread.currentThread());
                throw new PosixException("epoll_create1", Errno.EMFILE);
            }
            return ExclusiveWait.of(fd);
        });
        send();
        Thread first = taken.poll(GENEROUS_S, TimeUnit.SECONDS);
        assertThat(first).isNotNull();
        second.get(GENEROUS_S, TimeUnit.SECONDS).join(); // it has the channel for a while
        assertThat(threads.ended()).isNotDone();
        gate.countDown();
        for (int i = 0; i < MOST; i++) {
            send();
            assertThat(taken.poll(GENEROUS_S, TimeUnit.SECONDS)).isNotNull();
        }
        end();
    }

    @Test
    void threadsWithoutADescriptorToWaitWith_takeAllRequestsToo() throws Exception {
        reconnect(ExclusiveWait::withoutDescriptor);
        for (int i = 0; i < MOST; i++) {
            send();
            assertThat(taken.poll(GENEROUS_S, TimeUnit.SECONDS)).isNotNull();
        }
        end();
    }

    /** As while a source is dead, and the system gives no thread for a moment. */
    @Test
    void threadThatCannotBegin_isTriedAgain_thoughAllOthersAreBusy() throws Exception {
        AtomicInteger begun = new AtomicInteger();
        reconnect(fd -> {
            if (begun.incrementAndGet() == 2) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return ExclusiveWait.of(fd);
        });
        send();
        assertThat(taken.poll(GENEROUS_S, TimeUnit.SECONDS)).isNotNull();
        send();
        assertThat(taken.poll(GENEROUS_S, TimeUnit.SECONDS)).isNotNull();
        end();
    }

    /** The first thread is busy, the second has met the end, and so the third is the last of which the end is awaited. */
    @Test
    void threadThatCannotBegin_afterTheConnectionHasEnded_leavesNobodyWaiting() throws Exception {
        AtomicInteger begun = new AtomicInteger();
        CountDownLatch secondHasEnded = new CountDownLatch(1);
        reconnect(fd -> {
            if (begun.incrementAndGet() == 3) {
                awaitOpen(secondHasEnded);
                throw new PosixException("epoll_create1", Errno.EMFILE);
            }
            return ExclusiveWait.of(fd);
        });
        send();
        Thread first = taken.poll(GENEROUS_S, TimeUnit.SECONDS);
        assertThat(first).isNotNull();
        failing = true; // from now on a request holds nobody
        send();
        Thread second = taken.poll(GENEROUS_S, TimeUnit.SECONDS);
        assertThat(second).isNotNull();
        Posix.close(kernel);
        second.join();
        assertThat(threads.ended()).isNotDone();
        secondHasEnded.countDown();
        assertThat(threads.ended().get(GENEROUS_S, TimeUnit.SECONDS)).isZero();
        channel.close();
        assertThat(channel.isGivenBack()).isTrue();
        assertThat(first.isAlive()).isTrue();
    }

    @Test
    void threadWhoseRequestFailsUnexpectedly_takesTheNext() throws Exception {
        failing = true;
        send();
        assertThat(taken.poll(GENEROUS_S, TimeUnit.SECONDS)).isNotNull();
        failing = false;
        gate.countDown();
        for (int i = 0; i < MOST; i++) {
            send();
            assertThat(taken.poll(GENEROUS_S, TimeUnit.SECONDS)).isNotNull();
        }
        assertThat(threads.ended()).isNotDone();
        end();
    }

    @Test
    void connectionThatEnds_isOver_thoughARequestIsStillHeld() throws Exception {
        send();
        Thread holding = taken.poll(GENEROUS_S, TimeUnit.SECONDS);
        assertThat(holding).isNotNull();
        assertThat(threads.ended()).isNotDone();
        Posix.close(kernel);
        assertThat(threads.ended().get(GENEROUS_S, TimeUnit.SECONDS)).isZero();
        gate.countDown();
        holding.join(TimeUnit.SECONDS.toMillis(GENEROUS_S));
        assertThat(holding.isAlive()).isFalse();
        channel.close();
        assertThat(channel.isGivenBack()).isTrue();
    }
}
