package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.Source.SourceFile;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import io.clairfs.peer.directory.ClusterConfig;
import io.clairfs.peer.directory.DirectoryTimes;
import io.clairfs.peer.directory.Discovery;
import io.clairfs.peer.directory.GroupMembership;
import io.clairfs.peer.directory.Node;
import io.clairfs.peer.transfer.Credentials;
import io.clairfs.peer.transfer.TransferLimits;
import io.clairfs.peer.transfer.TransferThreads;
import io.clairfs.peer.transfer.server.ServeResult;
import io.clairfs.peer.transfer.server.TransferServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

/**
 * A member of a group on loopback that announces every sample and really holds them. A relay in front of it changes what it sends. The
 * plans of the other nodes make it the home of the samples that their own caches have no room for.
 */
final class LyingPeer implements AutoCloseable {
    private static final int LISTERS = 2;

    private final Parts parts = new Parts();
    private final Front front;
    private final ConcurrentHashMap<Integer, Kept> kept = new ConcurrentHashMap<>();

    /** What the other nodes connect to. */
    interface Front extends AutoCloseable {
        InetSocketAddress address();

        /** The number of pieces of answers that it has changed or held back. */
        long deeds();

        @Override
        void close() throws IOException;
    }

    /** Puts something in front of a server. */
    @FunctionalInterface
    interface FrontMaker {
        Front before(InetSocketAddress server) throws IOException;
    }

    /** Joins the group as node {@code node}, with room for {@code cache} bytes. */
    LyingPeer(NodeGroup group, int node, long cache, Relay.Deed deed) throws Exception {
        this(server -> new Relay(server, deed), false, group, node, cache);
    }

    /** The same with anything in front of it; it may keep all samples in memory. */
    LyingPeer(FrontMaker maker, boolean inMemory, NodeGroup group, int node, long cache) throws Exception {
        try {
            DirectorySource source = started(new DirectorySource(group.dataset()));
            DatasetTree tree = started(new DatasetTree(source, LISTERS, _ -> {}));
            tree.complete().join();
            FileNumbers numbers = FileNumbers.of(tree);
            Fingerprint fingerprint = Fingerprint.of(numbers.fingerprint());
            Secret secret = Secret.read(group.secret());
            TransferThreads threads = started(TransferThreads.start("liar", 1));
            var reading = started(Executors.newVirtualThreadPerTaskExecutor());
            TransferServer server = started(TransferServer.start(
                    List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                    new Credentials(fingerprint, secret),
                    (sample, _, _) -> inMemory
                            ? kept.computeIfAbsent(
                                            sample,
                                            number -> new Kept(read(
                                                    source,
                                                    tree.entry(numbers.fileOf(number))
                                                            .file())))
                                    .lent()
                            : new ServeResult.Later(CompletableFuture.supplyAsync(
                                    () -> read(
                                            source,
                                            tree.entry(numbers.fileOf(sample)).file()),
                                    reading)),
                    TransferLimits.DEFAULT,
                    threads));
            front = started(maker.before(server.addresses().getFirst()));
            String[] bind = group.bind(node).split(":", 2);
            GroupMembership directory = started(GroupMembership.open(
                    new ClusterConfig(
                            fingerprint,
                            secret,
                            new InetSocketAddress(bind[0], Integer.parseInt(bind[1])),
                            new Discovery.Members(List.of(group.bind(0), group.bind(1))),
                            DirectoryTimes.DEFAULT),
                    new Node.Introduction(
                            "liar-" + node,
                            front.address(),
                            ("{\"capacities\":[" + cache + "],\"model\":{}}").getBytes(UTF_8)),
                    numbers.count()));
            for (int sample = 0; sample < numbers.count(); sample++) {
                directory.heldHere().added(0, sample);
            }
        } catch (Exception | AssertionError e) {
            close();
            throw e;
        }
    }

    /** A sample that stays in memory. */
    private record Kept(ServeResult read) implements AutoCloseable {
        ServeResult lent() {
            if (read instanceof ServeResult.Memory(SampleBuffer sample, long _)) {
                assertThat(sample.tryRetain()).isTrue();
            }
            return read;
        }

        @Override
        public void close() {
            if (read instanceof ServeResult.Memory(SampleBuffer sample, long _)) {
                sample.release();
            }
        }
    }

    private <T extends AutoCloseable> T started(T part) {
        return parts.add(part);
    }

    private static ServeResult read(DirectorySource source, SourceFile file) {
        SampleBuffer sample = SampleBuffer.allocate(file.size());
        try {
            source.read(file, 0, sample.bytes());
            return new ServeResult.Memory(sample);
        } catch (SourceException e) {
            sample.release();
            return ServeResult.NOT_HERE;
        }
    }

    /** The number of pieces of answers that it has changed or held back. */
    long lies() {
        return front.deeds();
    }

    @Override
    public void close() throws IOException {
        parts.close();
        kept.values().forEach(Kept::close);
    }
}
