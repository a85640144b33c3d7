package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.DirectoryMembers.SAMPLES;
import static io.clairfs.peer.directory.DirectoryMembers.holds;
import static io.clairfs.peer.directory.Waits.eventually;
import static io.clairfs.peer.directory.Waits.untilTold;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import com.hazelcast.cluster.Member;
import com.hazelcast.cluster.impl.MemberImpl;
import com.hazelcast.instance.impl.HazelcastInstanceProxy;
import com.hazelcast.spi.impl.eventservice.EventRegistration;
import com.hazelcast.spi.impl.eventservice.impl.EventServiceImpl;
import com.hazelcast.spi.impl.executionservice.impl.ExecutionServiceImpl;
import com.hazelcast.topic.impl.TopicService;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;

/** What the members of a group know of each other, with two and three real ones on loopback. */
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

    /** As Hazelcast does by itself where two halves of a group cannot merge. */
    @Test
    @Execution(CONCURRENT)
    void memberThatEndsByItself_isKnownToHaveEnded_andMayComeBack() throws Exception {
        GroupMembership a = members.open(0);
        GroupMembership b = members.open(1);
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
        assertThat(b.hasEnded()).isFalse();
        b.hazelcast().getLifecycleService().terminate();
        assertThat(b.hasEnded()).isTrue();
        assertThat(a.hasEnded()).isFalse();
        eventually(() -> a.nodes().size() == 1);
        b.close();
        GroupMembership back = members.open(1);
        eventually(() -> a.nodes().size() == 2 && back.nodes().size() == 2);
        assertThat(back.hasEnded()).isFalse();
    }

    /** As a node of which the half of the group has ended, and that joins the other half. */
    @Test
    @Execution(CONCURRENT)
    void memberThatComesBack_remembersWhatItHasSeenOfJobs() throws Exception {
        JobStates states = new JobStates();
        GroupMembership before = openWith(states);
        untilTold(() -> before.jobs().put("stopped", "seed=7"));
        untilTold(() -> before.jobs().remove("stopped"));
        untilTold(() -> before.jobs().put("changed", "seed=8"));
        before.hazelcast().getLifecycleService().terminate();
        before.close();

        GroupMembership back = openWith(states);
        assertThat(back.jobs().now().stopped()).containsExactly("stopped");
        untilTold(() -> back.jobs().putBack("stopped", "seed=7"));
        untilTold(() -> back.jobs().putBack("changed", "seed=1"));
        assertThat(back.jobs().now().running().values()).containsExactly(new Job("changed", "seed=8", Map.of()));
    }

    private GroupMembership openWith(JobStates states) throws IOException {
        GroupMembership member = GroupMembership.open(
                members.config(0, members.secret()), DirectoryMembers.self(0), DirectoryMembers.SAMPLES, states);
        members.add(member);
        return member;
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
        GroupMembership b = memberThatJoins(1, neverRepeated);
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
        tell(b, "node1", a); // published after what its own join had it send
        int before = reminders.get();

        GroupMembership late = members.openWith(2, members.config(2, members.secret(), neverRepeated));
        eventually(() -> b.nodes().size() == 3);
        tell(b, "node1", late);
        tell(b, "node1", a); // published after whatever the join had it send
        assertThat(reminders).hasValue(before);
    }

    /** A member that finds the others in its start. One that begins apart, and merges into their group, reminds all of them whenever that has ended. */
    private GroupMembership memberThatJoins(int number, DirectoryTimes times) throws Exception {
        while (true) {
            GroupMembership member = members.openWith(number, members.config(number, members.secret(), times));
            if (member.hazelcast().getCluster().getMembers().size() > 1) {
                return member;
            }
            member.terminate();
        }
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
}
