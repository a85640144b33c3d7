package io.clairfs.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.transfer.client.Answer;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.peer.transfer.server.SampleService;
import io.clairfs.peer.transfer.server.ServeResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A service with samples of any size whose bytes follow from their number, and which knows who still holds them. */
public final class ServedSamples implements SampleService {
    private final Map<Integer, SampleBuffer> samples = new ConcurrentHashMap<>();
    final AtomicInteger asked = new AtomicInteger();
    final AtomicInteger damagedHere = new AtomicInteger();

    void add(int sample, long size) {
        SampleBuffer buffer = SampleBuffer.allocate(size);
        fill(sample, buffer.bytes());
        samples.put(sample, buffer);
    }

    /** Changes its bytes after their checksum was taken. */
    void damage(int sample) {
        SampleBuffer buffer = java.util.Objects.requireNonNull(samples.get(sample));
        int _ = buffer.crc32c();
        buffer.bytes().set(ValueLayout.JAVA_BYTE, 0, (byte) ~buffer.bytes().get(ValueLayout.JAVA_BYTE, 0));
    }

    @Override
    public void damaged(int sample) {
        damagedHere.incrementAndGet();
    }

    public static void fill(int sample, MemorySegment bytes) {
        SplittableRandom random = new SplittableRandom(sample);
        long at = 0;
        for (; at + 8 <= bytes.byteSize(); at += 8) {
            bytes.set(ValueLayout.JAVA_LONG_UNALIGNED, at, random.nextLong());
        }
        for (; at < bytes.byteSize(); at++) {
            bytes.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
        }
    }

    @Override
    public ServeResult serve(int sample, long bytes, long deadlineNs) {
        asked.incrementAndGet();
        SampleBuffer buffer = samples.get(sample);
        if (buffer == null || !buffer.tryRetain()) {
            return ServeResult.NOT_HERE;
        }
        return new ServeResult.Memory(buffer);
    }

    /** The peer at this address, of whom there is one while the client knows fewer than its limit. */
    public static Peer peer(TransferClient client, InetSocketAddress address) {
        return java.util.Objects.requireNonNull(client.peer(address), "too many peers");
    }

    /** Checks the bytes and releases the sample. */
    public static void assertGot(Answer answer, int sample, long size) {
        assertThat(answer).isInstanceOf(Answer.Got.class);
        SampleBuffer got = ((Answer.Got) answer).sample();
        SampleBuffer expected = SampleBuffer.allocate(size);
        fill(sample, expected.bytes());
        assertThat(got.size()).isEqualTo(size);
        assertThat(got.bytes().mismatch(expected.bytes())).isEqualTo(-1);
        expected.release();
        got.release();
        assertThat(got.tryRetain())
                .as("only one reference came with the answer")
                .isFalse();
    }

    /** Gives up the owner's references; whatever is still held after half a minute is a leak. */
    void end() throws InterruptedException {
        samples.values().forEach(SampleBuffer::release);
        long end = System.nanoTime() + 30_000_000_000L;
        for (SampleBuffer buffer : samples.values()) {
            while (buffer.tryRetain()) {
                buffer.release();
                assertThat(System.nanoTime()).as("a result was not released").isLessThan(end);
                Thread.sleep(5);
            }
        }
    }
}
