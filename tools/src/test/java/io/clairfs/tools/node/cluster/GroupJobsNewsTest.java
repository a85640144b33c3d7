package io.clairfs.tools.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.directory.ClusterConfig;
import io.clairfs.peer.directory.DirectoryTimes;
import io.clairfs.peer.directory.Discovery;
import io.clairfs.peer.directory.GroupMembership;
import io.clairfs.peer.directory.Job;
import io.clairfs.peer.directory.Node;
import io.clairfs.tools.mount.TestPorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a node tells its group of jobs, with a real member. */
@Timeout(300)
final class GroupJobsNewsTest {
    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    private final Semaphore rounds = new Semaphore(0);

    private static GroupMembership member() throws IOException {
        InetAddress here = InetAddress.getLoopbackAddress();
        int port = TestPorts.free(2);
        ThreadLocalRandom random = ThreadLocalRandom.current();
        ClusterConfig cluster = new ClusterConfig(
                new Fingerprint(random.nextLong(), random.nextLong()),
                null,
                new InetSocketAddress(here, port),
                new Discovery.Members(List.of()),
                DirectoryTimes.DEFAULT);
        return GroupMembership.open(
                cluster, new Node.Introduction("here", new InetSocketAddress(here, port + 1), new byte[0]), 1);
    }

    /** A further member of one group, which it finds at {@code first}. */
    private static GroupMembership member(String name, int about, Fingerprint dataset, int port, int first)
            throws IOException {
        InetAddress here = InetAddress.getLoopbackAddress();
        ClusterConfig cluster = new ClusterConfig(
                dataset,
                null,
                new InetSocketAddress(here, port),
                new Discovery.Members(List.of("127.0.0.1:" + first)),
                DirectoryTimes.DEFAULT);
        return GroupMembership.open(
                cluster,
                new Node.Introduction(name, new InetSocketAddress(here, port + 1), new byte[] {(byte) about}),
                1);
    }

    /** A change of the group's jobs. */
    @FunctionalInterface
    private interface Change {
        void make() throws TimeoutException;
    }

    /** Makes it again while it is lost, as it may be where the machine stands still, and as a node does. The class's timeout ends it. */
    private static void untilMade(Change change) {
        while (true) {
            try {
                change.make();
                return;
            } catch (TimeoutException lost) {
                System.out.println("again: " + lost.getMessage());
            }
        }
    }

    private void untilTold(GroupJobs group) throws InterruptedException {
        do {
            rounds.acquire();
        } while (group.hasUntold());
    }

    // Promise G10
    @Test
    void jobThatRunsHereAndTheGroupHasEnded_isNotStartedByBeingOfferedAgain_butByAUser() throws Exception {
        JobSpec spec = JobSpec.parse("name=train seed=7");
        try (GroupMembership member = member();
                GroupJobs group = new GroupJobs("here", errors)) {
            untilMade(() -> member.jobs().put("train", spec.lineForAll()));
            untilMade(() -> member.jobs().remove("train"));
            group.lost(spec); // it has seen the map before the end was there
            group.begin(member.jobs(), _ -> Map.of(), rounds::release);
            untilTold(group);
            assertThat(member.jobs().now().running()).isEmpty();
            assertThat(member.jobs().now().stopped()).containsExactly("train");

            group.started(spec);
            untilTold(group);
            assertThat(member.jobs().now().running()).containsOnlyKeys("train");
        }
        assertThat(errors.total()).isZero();
    }

    @Test
    void whatWasWrittenWhileTheGroupCouldNotBeJoined_startsAndStopsNoJobOfTheGroup() throws Exception {
        JobSpec first = JobSpec.parse("name=train seed=1");
        JobSpec second = JobSpec.parse("name=train seed=2");
        JobSpec own = JobSpec.parse("name=own seed=3");
        JobSpec theirs = JobSpec.parse("name=train seed=9");
        try (GroupMembership member = member();
                GroupJobs group = new GroupJobs("here", errors)) {
            untilMade(() -> member.jobs().put("train", theirs.lineForAll()));
            untilMade(() -> member.jobs().put("other", "name=other seed=4"));
            untilMade(() -> member.jobs().put("own", "name=own seed=5"));
            untilMade(() -> member.jobs().remove("own"));
            group.joinFailed();
            group.started(first);
            group.stopped("train");
            group.started(second);
            group.stopped("other");
            group.started(own);
            group.begin(member.jobs(), _ -> Map.of(), rounds::release);
            untilTold(group);
            assertThat(member.jobs().now().running().values())
                    .extracting(Job::name, Job::lines)
                    .containsExactlyInAnyOrder(
                            tuple("train", theirs.lineForAll()),
                            tuple("other", "name=other seed=4"),
                            tuple("own", own.lineForAll()));
        }
        assertThat(errors.lines().stream().map(ErrorLog.Line::message))
                .hasSize(2)
                .anyMatch(line -> line.startsWith("job other was stopped here before this node was in the group"))
                .anyMatch(line -> line.startsWith("job train was written here before this node was in the group"));
    }

    @Test
    void jobThatWasWrittenWhileOutOfTheGroup_isOfferedAgain_whereTheNextMembershipEndsBeforeItIsTold()
            throws Exception {
        JobSpec spec = JobSpec.parse("name=train seed=7");
        GroupMembership ended = member();
        ended.close();
        try (GroupMembership second = member();
                GroupJobs group = new GroupJobs("here", errors)) {
            group.joinFailed();
            group.started(spec);
            group.begin(ended.jobs(), _ -> Map.of(), () -> {}); // nothing can be told
            group.leave();
            assertThat(group.hasUntold()).isTrue();
            group.begin(second.jobs(), _ -> Map.of(), rounds::release);
            untilTold(group);
            assertThat(second.jobs().now().running()).containsOnlyKeys("train");
        }
    }

    /** Or else the others would plan with less or more room than it had when it leaves once more. */
    @Test
    void nodeThatComesBackWithOtherRoom_andTheSameRanks_tellsOfThatRoom() throws Exception {
        Fingerprint dataset = new Fingerprint(ThreadLocalRandom.current().nextLong(), 1);
        int port = TestPorts.free(6);
        try (GroupMembership other = member("other", 0, dataset, port, port)) {
            untilMade(() -> other.jobs().put("train", "name=train seed=7"));
            try (GroupMembership before = member("here", 1, dataset, port + 2, port)) {
                untilMade(() -> before.jobs().putRanks("train", "0"));
                untilKnown(other, "01");
            }
            try (GroupMembership again = member("here", 2, dataset, port + 4, port);
                    GroupJobs group = new GroupJobs("here", errors)) {
                group.begin(again.jobs(), _ -> Map.of("train", new Ranks(0, 0)), rounds::release);
                untilKnown(other, "02");
            }
            assertThat(other.jobs().now().running().values())
                    .singleElement()
                    .satisfies(job -> assertThat(job.ranks()).containsExactly(Map.entry("here", "0")));
        }
    }

    /** Until {@code node} knows what the node "here" tells of itself. The class's timeout ends it. */
    private static void untilKnown(GroupMembership node, String about) throws InterruptedException {
        while (!about.equals(node.jobs().now().about().get("here"))) {
            Thread.sleep(10);
        }
    }

    @Test
    void jobThatTheGroupDoesNotKnow_isToldAgain() throws Exception {
        JobSpec spec = JobSpec.parse("name=train seed=7");
        try (GroupMembership member = member();
                GroupJobs group = new GroupJobs("here", errors)) {
            group.lost(spec);
            group.begin(member.jobs(), _ -> Map.of(), rounds::release);
            untilTold(group);
            assertThat(member.jobs().now().running()).containsOnlyKeys("train");
        }
        assertThat(errors.total()).isZero();
    }
}
