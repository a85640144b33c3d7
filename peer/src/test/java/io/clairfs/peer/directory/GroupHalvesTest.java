package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.DirectoryMembers.QUICK;
import static io.clairfs.peer.directory.DirectoryMembers.SAMPLES;
import static io.clairfs.peer.directory.DirectoryMembers.holds;
import static io.clairfs.peer.directory.DirectoryMembers.self;
import static io.clairfs.peer.directory.Waits.eventually;
import static io.clairfs.peer.directory.Waits.untilAnswered;
import static io.clairfs.peer.directory.Waits.untilTold;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import com.hazelcast.config.Config;
import com.hazelcast.config.ServerSocketEndpointConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.replicatedmap.ReplicatedMap;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;

/** A group in two halves that meet again. */
@Timeout(300)
final class GroupHalvesTest {
    private final DirectoryMembers members = new DirectoryMembers();
    private final List<DirectoryRelay> relays = new ArrayList<>();

    GroupHalvesTest() throws IOException {}

    @AfterEach
    void allLeave() throws IOException {
        members.close();
        for (DirectoryRelay relay : relays) {
            relay.close();
        }
    }

    @Test
    @Execution(CONCURRENT)
    void splitBrain_bothHalvesGoOnAndAgreeAfterwards() throws Exception {
        // Two that did not find each other when they started are two halves; the merge is the same as after a cut.
        List<Integer> relayPorts = TestPorts.free(2);
        GroupMembership a = openHalf(0, relayPorts);
        GroupMembership b = openHalf(1, relayPorts);
        untilTold(() -> a.jobs().put("train", "seed=1"));
        untilTold(() -> b.jobs().put("other", "seed=2"));
        Thread.sleep(50);
        untilTold(() -> b.jobs().put("train", "seed=3")); // later than the other half's
        a.heldHere().added(0, 10);
        b.heldHere().added(0, 20);
        assertThat(a.nodes()).hasSize(1);
        assertThat(b.nodes()).hasSize(1);

        relayAt(relayPorts);
        HazelcastInstance half = a.hazelcast();
        eventually(() -> half.getCluster().getMembers().size() == 2);
        Map<String, Job> agreed =
                Map.of("train", new Job("train", "seed=3", Map.of()), "other", new Job("other", "seed=2", Map.of()));
        eventually(() -> agreed.equals(a.jobs().all()) && agreed.equals(b.jobs().all()));
        eventually(() -> holds(a, "node1", 0, 20) && holds(b, "node0", 0, 10));
        b.heldHere().added(0, 21);
        a.heldHere().added(0, 11);
        eventually(() -> holds(a, "node1", 0, 21) && holds(b, "node0", 0, 11));
    }

    private void relayAt(List<Integer> relayPorts) throws IOException {
        for (int number = 0; number < relayPorts.size(); number++) {
            InetSocketAddress member = members.config(number, members.secret()).bind();
            relays.add(new DirectoryRelay(relayPorts.get(number), member));
        }
    }

    /** By the clocks of the members the other half's jobs are later than the stop, as where its clock is ahead. */
    // Promise G10
    @Test
    @Execution(CONCURRENT)
    void jobStoppedInOneHalf_endsInTheOther_whenTheyMeetAgain_andOneStartedAnewRuns() throws Exception {
        List<Integer> relayPorts = TestPorts.free(2);
        relayAt(relayPorts);
        GroupMembership a = openHalf(0, relayPorts);
        GroupMembership b = openHalf(1, relayPorts);
        eventually(() -> a.nodes().size() == 2 && b.nodes().size() == 2);
        untilTold(() -> a.jobs().put("train", "seed=1"));
        untilTold(() -> a.jobs().put("again", "seed=1"));
        eventually(() -> b.jobs().now().running().size() == 2);

        for (DirectoryRelay relay : relays) {
            relay.close();
        }
        eventually(() -> a.nodes().size() == 1 && b.nodes().size() == 1);
        untilTold(() -> a.jobs().remove("train"));
        untilTold(() -> a.jobs().remove("again"));
        untilTold(() -> a.jobs().put("again", "seed=2"));
        ReplicatedMap<String, String> ofOther = b.hazelcast().getReplicatedMap(Jobs.LINES);
        for (Map.Entry<String, String> job : List.copyOf(ofOther.entrySet())) {
            // What a member does whose clock is ahead: the map takes it for the latest change.
            untilAnswered(() -> ofOther.put(job.getKey(), job.getValue()));
        }

        relayAt(relayPorts);
        Map<String, Job> agreed = Map.of("again", new Job("again", "seed=2", Map.of()));
        eventually(() -> {
            tellAgain(a);
            tellAgain(b);
            return a.nodes().size() == 2
                    && b.nodes().size() == 2
                    && a.jobs().now().equals(new Jobs.Known(agreed, Set.of("train")))
                    && b.jobs().now().equals(new Jobs.Known(agreed, Set.of("train")));
        });
        untilTold(() -> b.jobs().putBack("train", "seed=1")); // by a node that has missed all of that
        assertThat(b.jobs().now().running()).isEqualTo(agreed);
        untilTold(() -> b.jobs().put("train", "seed=1"));
        eventually(() -> a.jobs().now().running().size() == 2);
    }

    private static void tellAgain(GroupMembership node) {
        try {
            node.jobs().tellAgain();
        } catch (TimeoutException | HazelcastInstanceNotActiveException whileTheyMerge) {
            return; // told the next time
        }
    }

    /** A member that others reach at the relay port of its number alone. Until a relay listens there, nobody does. */
    private GroupMembership openHalf(int number, List<Integer> relayPorts) throws IOException {
        List<String> addresses =
                relayPorts.stream().map(port -> "127.0.0.1:" + port).toList();
        ClusterConfig config = new ClusterConfig(
                members.dataset(),
                members.secret(),
                members.config(number, members.secret()).bind(),
                new Discovery.Members(addresses),
                QUICK);
        GroupMembership half = GroupMembership.open(
                config, () -> knownAs(addresses.get(number), config, self(number)), self(number), SAMPLES);
        members.add(half);
        return half;
    }

    private static Config knownAs(String address, ClusterConfig config, Node.Introduction self) {
        Config settings = HazelcastSettings.of(config, self);
        settings.getAdvancedNetworkConfig()
                .getEndpointConfigs()
                .values()
                .forEach(endpoint -> ((ServerSocketEndpointConfig) endpoint).setPublicAddress(address));
        return settings;
    }
}
