package io.clairfs.tools.node.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.core.Hazelcast;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.directory.ClusterConfig;
import io.clairfs.peer.directory.DirectoryTimes;
import io.clairfs.peer.directory.Discovery;
import io.clairfs.peer.directory.GroupMembership;
import io.clairfs.peer.directory.Node;
import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.mount.TestPorts;
import io.clairfs.tools.node.config.GroupConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node that has not joined its group yet, or is out of it. */
final class PeerGroupTest {
    @Test
    void groupBeforeItIsJoined_numbersTheFilesOnce(@TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("a"), "a");
        GroupConfig config = new GroupConfig(
                "node",
                InetSocketAddress.createUnresolved("localhost", 5701),
                new Discovery.Members(List.of()),
                null,
                List.of(),
                null);
        ErrorLog errors = new ErrorLog(Clock.systemUTC());
        try (DirectorySource source = new DirectorySource(directory);
                DatasetTree tree = new DatasetTree(source, 1, errors::add);
                MemoryTier memory = new MemoryTier(1 << 20);
                Admission admission = new Admission(tree, memory, List.of(), 1 << 20);
                PeerGroup group =
                        new PeerGroup(config, ModelFile.UNMEASURED, tree, admission, errors, 1 << 20, 1_000)) {
            tree.complete().join();
            assertThat(group.group().numbers())
                    .isNotNull()
                    .isSameAs(group.group().numbers());
        }
    }

    /** As where {@code clairfs umount} comes while a node of the group hangs: the mount is still to be ended. */
    @Test
    @Timeout(300)
    @SuppressWarnings("try") // what is closed early is what this is about
    void end_whileItJoins_doesNotWaitUntilItHasJoined(@TempDir Path directory) throws Exception {
        InetAddress here = InetAddress.getLoopbackAddress();
        ErrorLog errors = new ErrorLog(Clock.systemUTC());
        try (ServerSocket silent = new ServerSocket(0, 50, here);
                DirectorySource source = new DirectorySource(directory);
                DatasetTree tree = new DatasetTree(source, 1, errors::add);
                MemoryTier memory = new MemoryTier(1 << 20);
                Admission admission = new Admission(tree, memory, List.of(), 1 << 20);
                SamplesInUse inUse = new SamplesInUse()) {
            tree.complete().join();
            GroupConfig config = new GroupConfig(
                    "node",
                    new InetSocketAddress(here, TestPorts.free(2)),
                    new Discovery.Members(List.of("127.0.0.1:" + silent.getLocalPort())),
                    null,
                    List.of(),
                    null);
            PeerGroup group = new PeerGroup(config, ModelFile.UNMEASURED, tree, admission, errors, 1 << 20, 1_000);
            FetchRouter router = router(new FetchPlaces(tree, source, admission, inUse, group));
            SampleServer server = server(admission, router, group);
            Thread joining = Thread.ofPlatform().daemon().start(() -> {
                try {
                    group.join(server, _ -> Map.of(), () -> {});
                } catch (IOException | RuntimeException e) {
                    errors.add("as it may: " + e.getMessage());
                }
            });
            try (Socket _ = silent.accept()) {
                group.close();
                assertThat(joining.isAlive()).isTrue();
            }
            silent.close();
            joining.join();
        }
    }

    private static FetchRouter router(FetchPlaces places) {
        return new FetchRouter(
                places,
                FetchLimits.DEFAULT,
                new ObservedRates((_, _) -> 1, 60, System::nanoTime),
                new Counters(),
                System::nanoTime);
    }

    private static SampleServer server(Admission admission, FetchRouter router, PeerGroup group) {
        return new SampleServer(admission, router, group::isHomeHere, new SparePool(0, () -> false));
    }

    /** As where the merge of two halves fails, or memory runs out in one of its threads. */
    @Test
    @Timeout(300)
    void nodeWhoseDirectoryEndsByItself_saysSo_andMayJoinAgain(@TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("a"), "a");
        int port = TestPorts.free(4);
        int otherPort = port + 2;
        InetAddress here = InetAddress.getLoopbackAddress();
        GroupConfig config = new GroupConfig(
                "node",
                new InetSocketAddress(here, port),
                new Discovery.Members(List.of("127.0.0.1:" + otherPort)),
                null,
                List.of(),
                null);
        ErrorLog errors = new ErrorLog(Clock.systemUTC());
        try (DirectorySource source = new DirectorySource(directory);
                DatasetTree tree = new DatasetTree(source, 1, errors::add);
                MemoryTier memory = new MemoryTier(1 << 20);
                Admission admission = new Admission(tree, memory, List.of(), 1 << 20);
                SamplesInUse inUse = new SamplesInUse();
                PeerGroup group = new PeerGroup(config, ModelFile.UNMEASURED, tree, admission, errors, 1 << 20, 1_000);
                GroupMembership other = other(tree, otherPort, port)) {
            FetchRouter router = router(new FetchPlaces(tree, source, admission, inUse, group));
            group.join(server(admission, router, group), _ -> Map.of(), () -> {});
            eventually(() -> other.nodes().size() == 2);
            assertThat(group.report().trouble()).isNull();

            endDirectory(port);
            AtomicInteger changes = new AtomicInteger();
            assertThat(group.awaitLoss(changes::incrementAndGet)).isTrue();
            assertThat(changes).hasValue(1);
            assertThat(group.report().joined()).isFalse();
            assertThat(group.report().trouble()).startsWith("left the group");
            assertThat(errors.lines().getLast().message()).startsWith("left the group");
            group.jobs().started(JobSpec.parse("name=train seed=7"));
            eventually(() -> other.nodes().size() == 1);

            group.join(server(admission, router, group), _ -> Map.of(), () -> {});
            eventually(() -> other.nodes().size() == 2);
            assertThat(group.report().joined()).isTrue();
            assertThat(group.report().trouble()).isNull();
            eventually(() -> other.jobs().now().running().containsKey("train"));
        }
    }

    // Promise G19
    @Test
    @Timeout(300)
    void sampleThatAnotherNodeHolds_namesThatNodeAndItsTier_untilItLetsItGo(@TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("a"), "a");
        int port = TestPorts.free(4);
        GroupConfig config = new GroupConfig(
                "node",
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                new Discovery.Members(List.of("127.0.0.1:" + (port + 2))),
                null,
                List.of(),
                null);
        ErrorLog errors = new ErrorLog(Clock.systemUTC());
        try (DirectorySource source = new DirectorySource(directory);
                DatasetTree tree = new DatasetTree(source, 1, errors::add);
                MemoryTier memory = new MemoryTier(1 << 20);
                Admission admission = new Admission(tree, memory, List.of(), 1 << 20);
                SamplesInUse inUse = new SamplesInUse();
                PeerGroup group = new PeerGroup(config, ModelFile.UNMEASURED, tree, admission, errors, 1 << 20, 1_000);
                GroupMembership other = other(tree, port + 2, port)) {
            int file = Objects.requireNonNull(tree.find("a".getBytes(UTF_8), 1_000))
                    .number();
            int number = FileNumbers.of(tree).numberOf(file);
            assertThat(group.whereabouts(file)).isEqualTo(new SampleInGroup("node", false, List.of(), null));

            FetchRouter router = router(new FetchPlaces(tree, source, admission, inUse, group));
            group.join(server(admission, router, group), _ -> Map.of(), () -> {});
            eventually(() -> group.report().nodes().size() == 2);
            assertThat(group.whereabouts(file)).isEqualTo(new SampleInGroup("node", true, List.of(), null));

            other.heldHere().added(1, number);
            SampleInGroup there =
                    new SampleInGroup("node", true, List.of(new SampleInGroup.Holder("other", "ssd")), null);
            eventually(() -> group.whereabouts(file).equals(there));
            other.heldHere().added(0, number);
            SampleInGroup faster =
                    new SampleInGroup("node", true, List.of(new SampleInGroup.Holder("other", "memory")), null);
            eventually(() -> group.whereabouts(file).equals(faster));
            other.heldHere().removed(0, number);
            other.heldHere().removed(1, number);
            eventually(() -> group.whereabouts(file).holders().isEmpty());
        }
    }

    /** Another node of the group of this dataset. */
    private static GroupMembership other(DatasetTree tree, int port, int ofTheFirst) throws Exception {
        tree.complete().join();
        FileNumbers numbers = FileNumbers.of(tree);
        InetAddress here = InetAddress.getLoopbackAddress();
        ClusterConfig cluster = new ClusterConfig(
                Fingerprint.of(numbers.fingerprint()),
                null,
                new InetSocketAddress(here, port),
                new Discovery.Members(List.of("127.0.0.1:" + ofTheFirst)),
                DirectoryTimes.DEFAULT);
        return GroupMembership.open(
                cluster,
                new Node.Introduction("other", new InetSocketAddress(here, port + 1), new byte[0]),
                numbers.count());
    }

    private static void endDirectory(int port) {
        Hazelcast.getAllHazelcastInstances().stream()
                .filter(each -> each.getCluster().getLocalMember().getAddress().getPort() == port)
                .findFirst()
                .orElseThrow()
                .getLifecycleService()
                .terminate();
    }

    /** The test's timeout ends it. */
    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            Thread.sleep(10);
        }
    }
}
