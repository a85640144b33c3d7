package io.clairfs.peer.transfer;

import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.Fingerprint;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Samples of 110 kB over loopback, a client and a server on one event loop each, beside a plain loop of sendfile and recv
 * that does nothing else with the bytes. Rounds alternate; medians are printed. Run: main, arguments: rounds, MB per round.
 */
final class TransferBenchmark {
    private static final int SAMPLE_BYTES = 110_000;
    private static final int SAMPLES = 64;
    private static final int AHEAD = 64;

    private TransferBenchmark() {}

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 7;
        int perRound = (int) ((args.length > 1 ? Integer.parseInt(args[1]) : 1000) * 1_000_000L / SAMPLE_BYTES);
        Path file = Files.createTempFile(Path.of("/dev/shm"), "clairfs", ".samples");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            run(channel, rounds, perRound);
        } finally {
            Files.delete(file);
        }
    }

    private static void run(FileChannel file, int rounds, int perRound) throws Exception {
        int[] crc = new int[SAMPLES];
        SampleBuffer[] held = new SampleBuffer[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            held[i] = SampleBuffer.allocate(SAMPLE_BYTES);
            LentSamples.fill(i, held[i].bytes());
            crc[i] = Frames.crc(held[i].bytes().asByteBuffer());
            file.write(held[i].bytes().asByteBuffer(), (long) i * SAMPLE_BYTES);
        }
        Lender memory = (sample, bytes, deadline) -> {
            held[sample].tryRetain();
            return new Loan.Memory(held[sample], OptionalInt.of(crc[sample]));
        };
        Lender unknown = (sample, bytes, deadline) -> {
            held[sample].tryRetain();
            return new Loan.Memory(held[sample]);
        };
        Lender stored = (sample, bytes, deadline) ->
                new Loan.Stored(file, (long) sample * SAMPLE_BYTES, SAMPLE_BYTES, crc[sample], () -> {});
        Credentials open = new Credentials(new Fingerprint(1, 2), null);
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        String[] names = {"sendfile/recv", "file", "memory, crc known", "memory, crc computed"};
        double[][] rates = new double[names.length][rounds];
        try (TransferThreads lending = TransferThreads.start("lend", 1);
                TransferThreads fetching = TransferThreads.start("fetch", 1)) {
            List<TransferServer> servers = new ArrayList<>();
            for (Lender lender : new Lender[] {stored, memory, unknown}) {
                servers.add(TransferServer.start(List.of(any), open, lender, TransferLimits.DEFAULT, lending));
            }
            try (TransferClient client = new TransferClient(open, TransferLimits.DEFAULT, fetching)) {
                for (int round = -2; round < rounds; round++) {
                    for (int way = 0; way < names.length; way++) {
                        double rate = way == 0
                                ? plain(file, perRound)
                                : fetch(
                                        client.peer(
                                                servers.get(way - 1).addresses().getFirst()),
                                        perRound);
                        if (round >= 0) {
                            rates[way][round] = rate;
                        }
                    }
                }
                for (Peer peer : client.peers()) {
                    System.out.println(peer.figures());
                }
                System.out.printf(
                        "requests per frame %.1f%n",
                        (double) client.counters().requests.sum()
                                / client.counters().requestFrames.sum());
            }
            servers.forEach(TransferServer::close);
        }
        double base = median(rates[0]);
        for (int way = 0; way < names.length; way++) {
            System.out.printf(
                    "%-22s %7.0f MB/s  %3.0f %%   %s%n",
                    names[way],
                    median(rates[way]),
                    100 * median(rates[way]) / base,
                    Arrays.toString(
                            Arrays.stream(rates[way]).mapToLong(Math::round).toArray()));
        }
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static double fetch(Peer peer, int samples) {
        long start = System.nanoTime();
        ArrayDeque<CompletableFuture<Answer>> ahead = new ArrayDeque<>();
        for (int i = 0; i < samples; i++) {
            if (ahead.size() == AHEAD) {
                take(ahead.poll());
            }
            ahead.add(peer.ask(i % SAMPLES, SAMPLE_BYTES, System.nanoTime() + TimeUnit.SECONDS.toNanos(5)));
        }
        ahead.forEach(TransferBenchmark::take);
        return (double) samples * SAMPLE_BYTES * 1e3 / (System.nanoTime() - start);
    }

    private static void take(CompletableFuture<Answer> answer) {
        ((Answer.Got) answer.join()).sample().release();
    }

    private static double plain(FileChannel file, int samples) throws Exception {
        try (ServerSocketChannel listening = ServerSocketChannel.open()) {
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Thread sender = Thread.ofPlatform().start(() -> {
                try (SocketChannel to = listening.accept()) {
                    for (int i = 0; i < samples; i++) {
                        long at = (long) (i % SAMPLES) * SAMPLE_BYTES;
                        for (long sent = 0; sent < SAMPLE_BYTES; ) {
                            sent += file.transferTo(at + sent, SAMPLE_BYTES - sent, to);
                        }
                    }
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            long start = System.nanoTime();
            ByteBuffer into = ByteBuffer.allocateDirect(SAMPLE_BYTES);
            try (SocketChannel from = SocketChannel.open(listening.getLocalAddress())) {
                for (int i = 0; i < samples; i++) {
                    into.clear();
                    while (into.hasRemaining()) {
                        if (from.read(into) < 0) {
                            throw new IOException("cut");
                        }
                    }
                }
            }
            double rate = (double) samples * SAMPLE_BYTES * 1e3 / (System.nanoTime() - start);
            sender.join();
            return rate;
        }
    }
}
