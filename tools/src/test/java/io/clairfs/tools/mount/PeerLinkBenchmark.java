package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A node whose samples are all on another one: what its trainer gets over a link with some delay, beside what the link carries. {@code .ci/long-run
 * peers} runs it.
 *
 * <p>Only wrong bytes make it fail. It prints its measurements; judge them by how busy the machine was.
 */
@Timeout(600)
final class PeerLinkBenchmark {
    private static final int EPOCHS = 16;
    private static final int READERS = 4;
    private static final int PEER = 1;
    private static final long STREAM_BYTES = 512L << 20;
    private static final SlowSourceSpec SLOW = new SlowSourceSpec(5_000_000, Duration.ofMillis(200));

    private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");

    /** Pages alone: names stay known, as from one epoch to the next. */
    private static final String PAGES = "1";

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    @ParameterizedTest(name = "{0} samples of {1} bytes, {2} bytes/s, {3} us")
    @CsvSource({
        "16000, 16384, 300000000, 5000",
        "16000, 16384, 300000000, 500",
        "3000, 110000, 300000000, 5000",
        "3000, 110000, 2000000000, 0"
    })
    void first_reads_of_what_a_peer_holds(int samples, int bytes, long linkBytes, int delayUs) throws Exception {
        Duration delay = Duration.ofNanos(1_000L * delayUs);
        double link = linkRate(linkBytes, delay);
        Path dataset = NodeGroup.makeSamples(fixture, samples, bytes);
        byte[][] content = new byte[samples][];
        for (int i = 0; i < samples; i++) {
            content[i] = Files.readAllBytes(dataset.resolve("s" + i));
        }
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), SLOW)) {
            NodeGroup group = NodeGroup.of(
                            fixture,
                            dataset,
                            1,
                            source.point(),
                            null,
                            _ -> List.of("--memory", "1MiB", "--staging", "64MiB", "--loaders", "16"))
                    .mount(1);
            LiveMount node = group.nodes().getFirst();
            try (LyingPeer _ = new LyingPeer(
                    server -> delayUs == 0
                            ? new Relay(server, (_, _, _) -> Relay.Fate.PASSED)
                            : new DelayedLink(server, delay, linkBytes),
                    true,
                    group,
                    PEER,
                    4L * samples * bytes)) {
                node.await(
                        "told what the other holds",
                        s -> s.path("peers")
                                .valueStream()
                                .anyMatch(peer -> peer.path("samples").asInt() == samples));
                node.job("seed=3 batch=16 epochs=" + EPOCHS + " world=1 ranks=0");
                String job = node.status().path("jobs").get(0).path("name").asString();
                double[] rates = new double[EPOCHS];
                double[] cpuUs = new double[EPOCHS];
                String[] names = sorted(dataset);
                for (int epoch = 0; epoch < EPOCHS; epoch++) {
                    int[] order = node.lines("order/" + job + "/" + epoch + "/0").stream()
                            .mapToInt(Integer::parseInt)
                            .toArray();
                    Files.writeString(DROP_CACHES, PAGES);
                    long before = fromPeers(node);
                    Duration cpu = processor(node);
                    long start = System.nanoTime();
                    read(node.point(), order, names, content);
                    double seconds = (System.nanoTime() - start) / 1e9;
                    long came = fromPeers(node) - before;
                    rates[epoch] = came / seconds;
                    cpuUs[epoch] = processor(node).minus(cpu).toNanos() / 1e3 * bytes / came;
                }
                System.out.println("  fetched " + node.status().path("fetched"));
                System.out.println("  peers " + node.status().path("peers"));
                System.out.printf(
                        "samples of %d bytes, link %.0f MB/s (carries %.0f) and %d us: MB/s %s, best / link %.2f; processor us per sample %s%n",
                        bytes,
                        linkBytes / 1e6,
                        link / 1e6,
                        delayUs,
                        text(rates, 1e6),
                        Arrays.stream(rates).max().orElseThrow() / link,
                        text(cpuUs, 1));
            }
        }
    }

    private static long fromPeers(LiveMount node) throws IOException {
        return node.status().path("fetched").path("peer").path("bytes").asLong();
    }

    private static Duration processor(LiveMount node) throws IOException {
        return ProcessHandle.of(node.pid())
                .flatMap(process -> process.info().totalCpuDuration())
                .orElseThrow();
    }

    private static String[] sorted(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.map(path -> path.getFileName().toString()).sorted().toArray(String[]::new);
        }
    }

    private static void read(Path root, int[] order, String[] names, byte[][] content) throws Exception {
        AtomicInteger next = new AtomicInteger();
        try (ExecutorService readers = Executors.newFixedThreadPool(READERS)) {
            List<Future<?>> all = new ArrayList<>();
            for (int reader = 0; reader < READERS; reader++) {
                all.add(readers.submit(() -> {
                    for (int at = next.getAndIncrement(); at < order.length; at = next.getAndIncrement()) {
                        String name = names[order[at]];
                        int sample = Integer.parseInt(name.substring(1));
                        assertThat(Arrays.equals(Files.readAllBytes(root.resolve(name)), content[sample]))
                                .isTrue();
                    }
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
    }

    /** What one stream of bytes gets over the link, bytes/s. */
    private static double linkRate(long linkBytes, Duration delay) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                LyingPeer.Front front = delay.isZero()
                        ? new Relay((InetSocketAddress) server.getLocalSocketAddress(), (_, _, _) -> Relay.Fate.PASSED)
                        : new DelayedLink((InetSocketAddress) server.getLocalSocketAddress(), delay, linkBytes)) {
            Thread.ofPlatform().daemon().start(() -> {
                try (Socket socket = server.accept()) {
                    byte[] piece = new byte[1 << 18];
                    for (long sent = 0; sent < STREAM_BYTES; sent += piece.length) {
                        socket.getOutputStream().write(piece);
                    }
                } catch (IOException closed) {
                    return;
                }
            });
            try (Socket socket =
                    new Socket(front.address().getAddress(), front.address().getPort())) {
                byte[] piece = new byte[1 << 18];
                long start = System.nanoTime();
                long got = 0;
                for (int n = socket.getInputStream().read(piece);
                        n > 0;
                        n = socket.getInputStream().read(piece)) {
                    got += n;
                }
                return got / ((System.nanoTime() - start) / 1e9);
            }
        }
    }

    private static String text(double[] values, double unit) {
        StringBuilder text = new StringBuilder();
        for (double each : values) {
            text.append(" %.1f".formatted(each / unit));
        }
        return text.toString();
    }
}
