package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.DirectoryMembers.QUICK;
import static io.clairfs.peer.directory.DirectoryMembers.SAMPLES;
import static io.clairfs.peer.directory.DirectoryMembers.holds;
import static io.clairfs.peer.directory.DirectoryMembers.self;
import static io.clairfs.peer.directory.Waits.eventually;
import static io.clairfs.peer.directory.Waits.untilTold;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.hazelcast.cluster.Member;
import com.hazelcast.cluster.impl.MemberImpl;
import com.hazelcast.config.Config;
import com.hazelcast.instance.impl.HazelcastInstanceProxy;
import com.hazelcast.spi.impl.eventservice.EventRegistration;
import com.hazelcast.spi.impl.eventservice.impl.EventServiceImpl;
import com.hazelcast.spi.impl.executionservice.impl.ExecutionServiceImpl;
import com.hazelcast.topic.impl.TopicService;
import io.clairfs.peer.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.slf4j.LoggerFactory;

/** What a group promises, with two and three real members on loopback. */
@Timeout(300)
final class GroupMembershipTest {
    private final DirectoryMembers members = new DirectoryMembers();

    /** The newest sample of which a node has told another. */
    private final AtomicInteger told = new AtomicInteger();

    GroupMembershipTest() throws IOException {}

    @AfterEach
    void allLeave() {
        members.close();
    }

    /** Hazelcast keeps no address of a name that is not this node's own. (.ci/long-run slurm has a group of four names.) */
    @Test
    @Execution(CONCURRENT)
    void membersThatAreNames_becomeAddresses() {
        Config settings = HazelcastSettings.of(
                new ClusterConfig(
                        members.dataset(),
                        members.secret(),
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 5701),
                        new Discovery.Members(List.of(
                                "localhost", "localhost:99", "nowhere.invalid", "10.0.0.1", "[::1]", "[::1]:99")),
                        QUICK),
                new Node.Introduction("a", new InetSocketAddress(InetAddress.getLoopbackAddress(), 5702), new byte[0]));

        assertThat(settings.getAdvancedNetworkConfig()
                        .getJoin()
                        .getTcpIpConfig()
                        .getMembers())
                .contains("127.0.0.1:5701", "127.0.0.1:99", "10.0.0.1:5701", "[::1]:5701", "[::1]:99")
                .noneMatch(member -> member.startsWith("localhost") || member.startsWith("nowhere"));
    }

    @Test
    @Execution(CONCURRENT)
    void memberWithoutAnAddress_isLeftOut() throws Exception {
        GroupMembership alone = members.openWith(
                0,
                new ClusterConfig(
                        members.dataset(),
                        members.secret(),
                        new InetSocketAddress(
                                InetAddress.getLoopbackAddress(),
                                members.ports().get(0)),
                        new Discovery.Members(List.of(
                                "nowhere.invalid",
                                "localhost:" + members.ports().get(1))),
                        QUICK));
        GroupMembership b = members.open(1);

        eventually(() -> alone.nodes().size() == 2 && b.nodes().size() == 2);
    }

    @Test
    @Execution(CONCURRENT)
    void membersOfWhichNoneHasAnAddress_areNoGroupOfThisNodeAlone() {
        ClusterConfig nowhere = new ClusterConfig(
                members.dataset(),
                members.secret(),
                new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), members.ports().get(0)),
                new Discovery.Members(List.of("nowhere.invalid", "neither.invalid:99")),
                QUICK);
        assertThatThrownBy(() -> GroupMembership.open(nowhere, self(0), 100))
                .isInstanceOf(IOException.class)
                .hasMessageEndingWith("no address is known for any of nowhere.invalid, neither.invalid:99");
    }

    /** As where nodes start together, and no name server knows more than themselves yet. */
    @Test
    @Execution(CONCURRENT)
    void nodesWhoseNamesAreKnownLater_beginAlone_andMeetThen() throws Exception {
        Map<String, InetAddress> known = new ConcurrentHashMap<>();
        GroupMembership a = openNamed(0, known);
        GroupMembership b = openNamed(1, known);
        assertThat(a.membersWithoutAddress())
                .containsExactly("node1.test:" + members.ports().get(1));
        assertThat(b.membersWithoutAddress())
                .containsExactly("node0.test:" + members.ports().get(0));
        assertThat(a.nodes()).hasSize(1);
        assertThat(b.nodes()).hasSize(1);

        known.put("node0.test", InetAddress.getLoopbackAddress());
        known.put("node1.test", InetAddress.getLoopbackAddress());
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
        eventually(() ->
                a.membersWithoutAddress().isEmpty() && b.membersWithoutAddress().isEmpty());
    }

    /** A node that is told of two members: itself by its address, and the other one by a name. */
    private GroupMembership openNamed(int number, Map<String, InetAddress> known) throws IOException {
        int other = 1 - number;
        InetSocketAddress bind = members.config(number, members.secret()).bind();
        Discovery found = new Discovery.Members(List.of(
                "127.0.0.1:" + bind.getPort(),
                "node" + other + ".test:" + members.ports().get(other)));
        NameLookup.Servers servers = name -> {
            InetAddress address = name.endsWith(".test") ? known.get(name) : InetAddress.getByName(name);
            if (address == null) {
                throw new UnknownHostException(name);
            }
            return new InetAddress[] {address};
        };
        GroupMembership directory = GroupMembership.openAsking(
                servers,
                new ClusterConfig(members.dataset(), members.secret(), bind, found, QUICK),
                self(number),
                SAMPLES);
        members.add(directory);
        return directory;
    }

    @Test
    @Execution(CONCURRENT)
    void members_knowEachOtherAndTheJobs() throws Exception {
        GroupMembership a = members.open(0);
        GroupMembership b = members.open(1);
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
        Node other = a.nodes().get(1);
        assertThat(other.name()).isEqualTo("node1");
        assertThat(other.transferAddresses())
                .containsExactly(new InetSocketAddress(InetAddress.getLoopbackAddress(), 9001));
        assertThat(other.about()).containsExactly(1);
        assertThat(other.self()).isFalse();

        List<Map<String, Job>> seen = new CopyOnWriteArrayList<>();
        b.jobs().onChange(seen::add);
        untilTold(() -> a.jobs().put("train", "seed=7 world=2"));
        untilTold(() -> a.jobs().putRanks("train", "0"));
        untilTold(() -> b.jobs().putRanks("train", "1"));
        Job expected = new Job("train", "seed=7 world=2", Map.of("node0", "0", "node1", "1"));
        eventually(() -> expected.equals(a.jobs().all().get("train"))
                && expected.equals(b.jobs().all().get("train")));
        assertThat(seen.getFirst()).isEmpty();
        eventually(() -> seen.getLast().containsValue(expected));

        GroupMembership late = members.open(2);
        // At once, unless its handshakes took so long that it began alone and meets the others now.
        eventually(() -> expected.equals(late.jobs().all().get("train"))
                && late.jobs().now().about().equals(Map.of("node0", "00", "node1", "01")));
        b.terminate();
        eventually(() -> a.nodes().size() == 2);
        assertThat(a.jobs().now().about()).as("of a node that has left, too").containsEntry("node1", "01");
        untilTold(() -> a.jobs().remove("train"));
        eventually(() -> late.jobs().all().isEmpty());
    }

    @Test
    @Execution(CONCURRENT)
    void members_foundByTheNameOfAService() throws Exception {
        GroupMembership a = openPod(0);
        GroupMembership b = openPod(1);
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
    }

    /** As a pod of a headless service, the name of which stands for the first pod alone. */
    private GroupMembership openPod(int number) throws IOException {
        Map<String, String> service = Map.of(
                "service-dns",
                "localhost",
                "service-port",
                members.ports().getFirst().toString());
        ClusterConfig pod = new ClusterConfig(
                members.dataset(),
                members.secret(),
                members.config(number, members.secret()).bind(),
                new Discovery.Kubernetes(service),
                QUICK);
        InetSocketAddress transfer = new InetSocketAddress(InetAddress.getLoopbackAddress(), 9000 + number);
        GroupMembership directory =
                GroupMembership.open(pod, new Node.Introduction("pod" + number, transfer, new byte[0]), SAMPLES);
        members.add(directory);
        return directory;
    }

    @Test
    @Execution(CONCURRENT)
    void aNodeThatIsThere_isNotSilent() throws Exception {
        GroupMembership a = members.open(0);
        members.open(1);
        eventually(() -> a.nodes().size() == 2);
        Node other = a.nodes().get(1);
        Thread.sleep(2_000);
        eventually(() -> a.silentMs(other) < 1_500);
        assertThat(a.silentMs(a.nodes().getFirst())).isZero();
        assertThat(a.node(other.id())).isSameAs(other);
    }

    @Test
    @Execution(CONCURRENT)
    void idleMember_isNotWokenForWhatNothingHereUses() throws Exception {
        ExecutionServiceImpl execution =
                (ExecutionServiceImpl) ((HazelcastInstanceProxy) members.open(0).hazelcast())
                        .getOriginal()
                        .node
                        .getNodeEngine()
                        .getExecutionService();
        ScheduledThreadPoolExecutor scheduler = execution.getScheduledExecutorService();
        long start;
        long before;
        do { // what follows makes up for no time in which the machine stood still
            eventually(() -> isUpToDate(scheduler));
            start = System.nanoTime();
            before = scheduler.getCompletedTaskCount();
        } while (!isUpToDate(scheduler));
        Thread.sleep(2_000);
        long tasks = scheduler.getCompletedTaskCount() - before;
        double seconds = (System.nanoTime() - start) / 1e9;
        // Heartbeats and searches for another half of the group are left; the look at futures alone was ten a second.
        assertThat(tasks / seconds).isLessThan(5);
    }

    /** Whether all that has fallen due has run. */
    private static boolean isUpToDate(ScheduledThreadPoolExecutor scheduler) {
        Runnable next = scheduler.getQueue().peek();
        boolean isDue = next instanceof Delayed task && task.getDelay(TimeUnit.NANOSECONDS) <= 0;
        return scheduler.getActiveCount() == 0 && !isDue;
    }

    /** What a member does with the registrations of another when it takes it for gone, though it has joined again. */
    @Test
    @Execution(CONCURRENT)
    void aNodeWhoseRegistrationIsLost_hearsAgain() throws Exception {
        GroupMembership a = members.open(0);
        GroupMembership b = members.open(1);
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
        MemberImpl deaf = (MemberImpl) b.hazelcast().getCluster().getLocalMember();
        EventServiceImpl events = (EventServiceImpl) ((HazelcastInstanceProxy) a.hazelcast())
                .getOriginal()
                .node
                .getNodeEngine()
                .getEventService();
        eventually(() -> !registrations(events, deaf).isEmpty());
        List<UUID> lost = registrations(events, deaf);
        events.onMemberLeft(deaf);
        assertThat(registrations(events, deaf)).doesNotContainAnyElementsOf(lost);
        a.heldHere().added(0, 5); // nothing but a new registration brings it
        eventually(() -> holds(b, "node0", 0, 5));
        a.heldHere().added(0, 6);
        b.heldHere().added(0, 7);
        eventually(() -> holds(b, "node0", 0, 6) && holds(a, "node1", 0, 7));
    }

    /** What a member has registered, to hear what all are told. */
    private static List<UUID> registrations(EventServiceImpl events, MemberImpl member) {
        return events.getRegistrations(TopicService.SERVICE_NAME, HoldingsExchange.TO_ALL).stream()
                .filter(one -> one.getSubscriber().equals(member.getAddress()))
                .map(EventRegistration::getId)
                .toList();
    }

    @Test
    @Execution(CONCURRENT)
    void holdings_travelInDeltas_aLateMemberSeesAllAndAKilledOneIsGone() throws Exception {
        GroupMembership a = members.open(0);
        GroupMembership b = members.open(1);
        for (int sample = 0; sample < SAMPLES; sample += 3) {
            a.heldHere().added(0, sample);
        }
        b.heldHere().added(1, 999_999);
        eventually(() -> holds(b, "node0", 0, 999_999) && holds(a, "node1", 1, 999_999));
        assertThat(holds(b, "node0", 0, 1)).isFalse();
        a.heldHere().removed(0, 999_999);
        a.heldHere().added(1, 1);
        eventually(() -> holds(b, "node0", 1, 1) && !holds(b, "node0", 0, 999_999));

        GroupMembership late = members.open(2);
        long start = System.nanoTime();
        eventually(() -> holds(late, "node0", 0, 3) && holds(late, "node0", 1, 1) && holds(late, "node1", 1, 999_999));
        System.out.printf("a late member knows all after %d ms%n", (System.nanoTime() - start) / 1_000_000);
        assertThat(holds(late, "node0", 0, 999_999)).isFalse();

        start = System.nanoTime();
        a.terminate();
        eventually(() -> b.heldElsewhere().view().nodes() == 1 && late.nodes().size() == 2);
        System.out.printf("a killed member is gone after %d ms%n", (System.nanoTime() - start) / 1_000_000);
        assertThat(b.heldElsewhere().view().nodesThatHold(3)).isZero();
        GroupMembership back = members.open(0);
        back.heldHere().added(0, 77);
        eventually(() -> holds(b, "node0", 0, 77) && holds(late, "node0", 0, 77) && holds(back, "node1", 1, 999_999));
        assertThat(holds(b, "node0", 0, 3)).isFalse();
    }

    /** In a group of n nodes that start together, reminders to all at every join would be n to the third. */
    @Test
    @Execution(CONCURRENT)
    void memberThatJoins_isRemindedAlone() throws Exception {
        DirectoryTimes neverRepeated = new DirectoryTimes(50, 1_000_000, 100, 1, 60, 2);
        GroupMembership a = members.openWith(0, members.config(0, members.secret(), neverRepeated));
        GroupMembership b = members.openWith(1, members.config(1, members.secret(), neverRepeated));
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
        tell(b, "node1", a);
        Set<UUID> there = a.nodes().stream().map(Node::id).collect(Collectors.toSet());
        AtomicInteger reminders = new AtomicInteger();
        a.hazelcast().<byte[]>getTopic(HoldingsExchange.TO_ALL).addMessageListener(message -> {
            // One that began alone, and merges into the group, reminds all by itself.
            Member from = message.getPublishingMember();
            if (from != null && there.contains(from.getUuid()) && isReminder(message.getMessageObject())) {
                reminders.incrementAndGet();
            }
        });
        tell(b, "node1", a); // published after what one of these two sent, if they had begun apart
        int before = reminders.get();

        GroupMembership late = members.openWith(2, members.config(2, members.secret(), neverRepeated));
        eventually(() -> b.nodes().size() == 3);
        tell(b, "node1", late);
        tell(b, "node1", a); // published after whatever the join had it send
        assertThat(reminders).hasValue(before);
    }

    /**
     * Has a node tell another of a sample. A message is lost where two members are not connected yet; the next one shows that, so there are more until the
     * other knows.
     */
    private void tell(GroupMembership node, String name, GroupMembership other) throws InterruptedException {
        int sample = told.incrementAndGet();
        node.heldHere().added(0, sample);
        eventually(() -> {
            boolean knows = holds(other, name, 0, sample);
            if (!knows) {
                node.heldHere().added(0, told.incrementAndGet());
            }
            return knows;
        });
    }

    private static boolean isReminder(byte[] message) {
        try {
            return HoldingsMessage.read(message, SAMPLES) instanceof HoldingsMessage.Reminder;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    // Promise G1
    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void otherSecret_staysOutside() throws Exception {
        GroupMembership a = members.open(0);
        untilTold(() -> a.jobs().put("train", "seed=7"));
        GroupMembership stranger =
                members.open(1, Secret.of("another secret, as long".getBytes(StandardCharsets.US_ASCII)));
        GroupMembership without = members.open(2, null);
        Thread.sleep(3_000);
        assertThat(a.nodes()).hasSize(1);
        assertThat(stranger.nodes()).hasSize(1);
        assertThat(without.nodes()).hasSize(1);
        assertThat(stranger.jobs().all()).isEmpty();
        assertThat(a.hazelcast().getCluster().getMembers()).hasSize(1);
    }

    @Test
    @Execution(CONCURRENT)
    void logs_atInfo_showTheClusterNameInOneCategoryOnly() throws Exception {
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        Logger hazelcast = (Logger) LoggerFactory.getLogger("com.hazelcast");
        Level before = hazelcast.getLevel();
        lines.start();
        hazelcast.addAppender(lines);
        hazelcast.setAdditive(false);
        hazelcast.setLevel(Level.INFO);
        try {
            GroupMembership a = members.open(0);
            members.open(1, Secret.of("another secret, as long".getBytes(StandardCharsets.US_ASCII)));
            a.close();
        } finally {
            hazelcast.setLevel(before);
            hazelcast.setAdditive(true);
            hazelcast.detachAppender(lines);
            synchronized (lines) {
                lines.stop(); // others may be writing to it
            }
        }
        assertThat(lines.list).isNotEmpty();
        String name = members.config(0, members.secret()).clusterName();
        assertThat(lines.list.stream().filter(line -> line.getFormattedMessage().contains(name)))
                .allMatch(line -> line.getLoggerName().equals("com.hazelcast.system"));
    }

    @Test
    @Execution(CONCURRENT)
    void open_listensOnItsAddressOnly() throws Exception {
        members.open(0);
        new Socket(InetAddress.getLoopbackAddress(), members.ports().get(0)).close();
        InetAddress other = InetAddress.getByAddress(new byte[] {127, 0, 0, 2});
        assertThatThrownBy(() -> new Socket(other, members.ports().get(0)).close())
                .isInstanceOf(IOException.class);
    }

    @Test
    @Execution(CONCURRENT)
    void open_portTaken_saysSo() throws Exception {
        try (ServerSocket taken = new ServerSocket(members.ports().get(0), 1, InetAddress.getLoopbackAddress())) {
            assertThat(taken.isBound()).isTrue();
            assertThatThrownBy(() -> members.open(0))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("cannot take part");
        }
    }

    // Promise G6
    @Test
    @Execution(CONCURRENT)
    void config_withoutSecretBeyondLoopback_isRefused() {
        assertThatThrownBy(() -> new ClusterConfig(
                        members.dataset(),
                        null,
                        new InetSocketAddress("192.0.2.1", 5701),
                        new Discovery.Members(List.of()),
                        QUICK))
                .hasMessageContaining("loopback");
    }
}
