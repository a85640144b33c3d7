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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A socket stands for the kernel; it is given one request at a time. */
@Timeout(60)
final class RequestThreadsTest {
    private static final int MOST = 20;
    private static final long GENEROUS_S = 30;

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
        threads = new RequestThreads("test-request", channel, this::hold, MOST, waits);
        threads.start();
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
        try {
            gate.await();
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
                        .filter(thread -> thread.getName().startsWith("test-request"))
                        .count())
                .isLessThanOrEqualTo(MOST);
        end();
    }

    @Test
    void threadThatCannotBegin_isDoneWithout_andTheMountGoesOn() throws Exception {
        AtomicInteger begun = new AtomicInteger();
        CountDownLatch second = new CountDownLatch(1);
        connect(fd -> {
            if (begun.incrementAndGet() == 2) {
                second.countDown();
                throw new PosixException("epoll_create1", Errno.EMFILE);
            }
            return ExclusiveWait.of(fd);
        });
        send();
        Thread first = taken.poll(GENEROUS_S, TimeUnit.SECONDS);
        assertThat(first).isNotNull();
        assertThat(second.await(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
        assertThat(threads.ended()).isNotDone();
        gate.countDown();
        for (int i = 0; i < MOST; i++) {
            send();
            assertThat(taken.poll(GENEROUS_S, TimeUnit.SECONDS)).isNotNull();
        }
        end();
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
