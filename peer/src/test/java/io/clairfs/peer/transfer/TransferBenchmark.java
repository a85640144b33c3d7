package io.clairfs.peer.transfer;

import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.transfer.client.Answer;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.peer.transfer.server.SampleService;
import io.clairfs.peer.transfer.server.ServeResult;
import io.clairfs.peer.transfer.server.TransferServer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Samples of 110 kB over loopback beside a plain loop of sendfile and recv that does nothing else with the bytes. Every way has one
 * thread on each side, each bound to a processor of its own, the same two for all; whoever asks for the next sample does so on the
 * thread that receives. The ways alternate within every round; medians are printed, and what the threads of each way used of their
 * processors, which other load on the machine does not change. Run: main, arguments: rounds, MB per round.
 */
final class TransferBenchmark {
    private static final int SAMPLE_BYTES = 110_000;
    private static final int SAMPLES = 64;
    private static final int AHEAD = 64;
    private static final int WARM_UP_ROUNDS = 3;
    private static final String[] WAYS = {"sendfile and recv", "from files", "from memory"};
    private static final int SERVING_CPU = 0;
    private static final int FETCHING_CPU = 1;

    private final FileChannel file;
    private final int perRound;
    private final List<double[]> rates = new ArrayList<>();
    private final List<double[]> servingUs = new ArrayList<>();
    private final List<double[]> fetchingUs = new ArrayList<>();

    private TransferBenchmark(FileChannel file, int rounds, int perRound) {
        this.file = file;
        this.perRound = perRound;
        for (int way = 0; way < WAYS.length; way++) {
            rates.add(new double[rounds]);
            servingUs.add(new double[rounds]);
            fetchingUs.add(new double[rounds]);
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 9;
        int perRound = (int) ((args.length > 1 ? Integer.parseInt(args[1]) : 1000) * 1_000_000L / SAMPLE_BYTES);
        Path path = Files.createTempFile(Path.of("/dev/shm"), "clairfs", ".samples");
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            TransferBenchmark benchmark = new TransferBenchmark(file, rounds, perRound);
            benchmark.run(rounds);
            benchmark.print();
        } finally {
            Files.delete(path);
        }
    }

    private void run(int rounds) throws Exception {
        SampleBuffer[] held = new SampleBuffer[SAMPLES];
        int[] crc = new int[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            held[i] = SampleBuffer.allocate(SAMPLE_BYTES);
            ServedSamples.fill(i, held[i].bytes());
            crc[i] = held[i].crc32c();
            file.write(held[i].bytes().asByteBuffer(), (long) i * SAMPLE_BYTES);
        }
        SampleService memory = (sample, bytes, deadline) -> {
            held[sample].tryRetain();
            return new ServeResult.Memory(held[sample]);
        };
        SampleService stored = (sample, bytes, deadline) ->
                new ServeResult.Stored(file, (long) sample * SAMPLE_BYTES, SAMPLE_BYTES, crc[sample], () -> {});
        Credentials open = new Credentials(new Fingerprint(1, 2), null);
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (TransferThreads serving = TransferThreads.start("serve", 1);
                TransferThreads fetching = TransferThreads.start("fetch", 1);
                TransferServer files =
                        TransferServer.start(List.of(any), open, stored, TransferLimits.DEFAULT, serving);
                TransferServer memories =
                        TransferServer.start(List.of(any), open, memory, TransferLimits.DEFAULT, serving);
                TransferClient client = new TransferClient(open, TransferLimits.DEFAULT, fetching)) {
            long servingThread = bind(serving, SERVING_CPU);
            long fetchingThread = bind(fetching, FETCHING_CPU);
            Peer fromFiles = ServedSamples.peer(client, files.addresses().getFirst());
            Peer fromMemory = ServedSamples.peer(client, memories.addresses().getFirst());
            for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
                plain(round);
                for (int way = 1; way < WAYS.length; way++) {
                    Peer peer = way == 1 ? fromFiles : fromMemory;
                    long servingBefore = cpuNs(servingThread);
                    long fetchingBefore = cpuNs(fetchingThread);
                    long start = System.nanoTime();
                    new Asker(peer, fetching).run();
                    took(
                            way,
                            round,
                            System.nanoTime() - start,
                            cpuNs(servingThread) - servingBefore,
                            cpuNs(fetchingThread) - fetchingBefore);
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
    }

    private void took(int way, int round, long wallNs, long servingNs, long fetchingNs) {
        if (round >= 0) {
            rates.get(way)[round] = (double) perRound * SAMPLE_BYTES * 1e3 / wallNs;
            servingUs.get(way)[round] = servingNs / 1e3 / perRound;
            fetchingUs.get(way)[round] = fetchingNs / 1e3 / perRound;
        }
    }

    private void print() {
        double base = median(rates.getFirst());
        for (int way = 0; way < WAYS.length; way++) {
            double[] ratios = new double[rates.get(way).length];
            for (int round = 0; round < ratios.length; round++) {
                ratios[round] = rates.get(way)[round] / rates.getFirst()[round];
            }
            System.out.printf(
                    "%-18s %6.0f MB/s  %4.0f %% of the loop, in each round %3.0f %% (median), processor time for a sample %5.1f + %5.1f us   %s%n",
                    WAYS[way],
                    median(rates.get(way)),
                    100 * median(rates.get(way)) / base,
                    100 * median(ratios),
                    median(servingUs.get(way)),
                    median(fetchingUs.get(way)),
                    Arrays.toString(
                            Arrays.stream(rates.get(way)).mapToLong(Math::round).toArray()));
        }
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** Asks for one round of samples on the thread that receives, some ahead all the time. */
    private final class Asker {
        private final Peer peer;
        private final TransferThreads thread;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private int asked;
        private int got;

        Asker(Peer peer, TransferThreads thread) {
            this.peer = peer;
            this.thread = thread;
        }

        void run() throws ExecutionException, InterruptedException {
            thread.next().execute(() -> {
                for (int i = 0; i < AHEAD; i++) {
                    ask();
                }
            });
            done.get();
        }

        private void ask() {
            CompletableFuture<Void> _ = peer.ask(
                            asked++ % SAMPLES, SAMPLE_BYTES, System.nanoTime() + TimeUnit.SECONDS.toNanos(5))
                    .thenAccept(this::take)
                    .whenComplete((_, error) -> {
                        if (error != null) {
                            done.completeExceptionally(error);
                        }
                    });
        }

        private void take(Answer answer) {
            ((Answer.Got) answer).sample().release();
            got++;
            if (asked < perRound) {
                ask();
            } else if (got == perRound) {
                done.complete(null);
            }
        }
    }

    private void plain(int round) throws Exception {
        try (ServerSocketChannel listening = ServerSocketChannel.open()) {
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            CompletableFuture<Long> sent = new CompletableFuture<>();
            CompletableFuture<Long> received = new CompletableFuture<>();
            long start = System.nanoTime();
            Thread.ofPlatform().start(() -> complete(sent, SERVING_CPU, () -> send(listening)));
            Thread.ofPlatform()
                    .start(() -> complete(
                            received, FETCHING_CPU, () -> receive((InetSocketAddress) listening.getLocalAddress())));
            long receivingNs = received.get();
            long wallNs = System.nanoTime() - start;
            took(0, round, wallNs, sent.get(), receivingNs);
        }
    }

    /** Part of a plain transfer. */
    private interface Half {
        void run() throws IOException;
    }

    private static void complete(CompletableFuture<Long> cpuNs, int cpu, Half half) {
        try {
            bindThis(cpu);
            half.run();
            cpuNs.complete(cpuNs(Thread.currentThread().threadId()));
        } catch (Throwable t) {
            cpuNs.completeExceptionally(t);
        }
    }

    private void send(ServerSocketChannel listening) throws IOException {
        try (SocketChannel to = listening.accept()) {
            for (int i = 0; i < perRound; i++) {
                long at = (long) (i % SAMPLES) * SAMPLE_BYTES;
                for (long sent = 0; sent < SAMPLE_BYTES; ) {
                    sent += file.transferTo(at + sent, SAMPLE_BYTES - sent, to);
                }
            }
        }
    }

    private void receive(InetSocketAddress from) throws IOException {
        ByteBuffer into = ByteBuffer.allocateDirect(SAMPLE_BYTES);
        try (SocketChannel channel = SocketChannel.open(from)) {
            for (int i = 0; i < perRound; i++) {
                into.clear();
                while (into.hasRemaining()) {
                    if (channel.read(into) < 0) {
                        throw new IOException("cut");
                    }
                }
            }
        }
    }

    private static long cpuNs(long thread) {
        return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread);
    }

    /** Binds the only thread of an event loop to a processor; returns its number. */
    private static long bind(TransferThreads thread, int cpu) throws Exception {
        return thread.next()
                .submit(() -> {
                    bindThis(cpu);
                    return Thread.currentThread().threadId();
                })
                .get();
    }

    @SuppressWarnings("restricted")
    private static void bindThis(int cpu) {
        MethodHandle setAffinity = Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker().defaultLookup().findOrThrow("sched_setaffinity"),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(ValueLayout.JAVA_LONG);
            mask.set(ValueLayout.JAVA_LONG, 0, 1L << cpu);
            if ((int) setAffinity.invokeExact(0, ValueLayout.JAVA_LONG.byteSize(), mask) != 0) {
                throw new IllegalStateException("processor " + cpu + " is not ours");
            }
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }
}
