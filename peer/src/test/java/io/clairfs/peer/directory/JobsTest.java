package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.Waits.eventually;
import static io.clairfs.peer.directory.Waits.untilAnswered;
import static io.clairfs.peer.directory.Waits.untilTold;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;

/** Jobs of a group that were stopped or lost. */
@Timeout(300)
final class JobsTest {
    private final DirectoryMembers members = new DirectoryMembers();

    JobsTest() throws IOException {}

    @AfterEach
    void allLeave() {
        members.close();
    }

    @Test
    @Execution(CONCURRENT)
    void jobStopped_staysStoppedForALateMemberAndMayBeStartedAgain() throws Exception {
        GroupMembership a = members.open(0);
        untilTold(() -> a.jobs().put("train", "seed=7"));
        untilTold(() -> a.jobs().putRanks("train", "0"));
        untilTold(() -> a.jobs().remove("train"));
        GroupMembership b = members.open(1);
        Jobs.Known stopped = new Jobs.Known(Map.of(), Set.of("train"));
        // At once, but for a member whose handshake took so long that it began alone and meets the group a little
        // later.
        eventually(() -> b.jobs().now().equals(stopped));
        untilTold(() -> b.jobs().put("train", "seed=8"));
        eventually(() -> a.jobs().now().running().containsKey("train"));
        assertThat(a.jobs().now())
                .isEqualTo(new Jobs.Known(Map.of("train", new Job("train", "seed=8", Map.of())), Set.of()));
    }

    @Test
    @Execution(CONCURRENT)
    void jobThatTheGroupHasLost_isPutBack_asItWas() throws Exception {
        GroupMembership a = members.open(0);
        untilTold(() -> a.jobs().put("train", "seed=7"));
        untilAnswered(() -> a.hazelcast().getReplicatedMap(Jobs.LINES).clear());
        assertThat(a.jobs().now().running()).isEmpty();
        untilTold(() -> a.jobs().putBack("train", "seed=7"));
        untilTold(() -> a.jobs().putBack("new", "seed=8")); // as after all nodes have begun anew
        assertThat(a.jobs().now().running().keySet()).containsExactly("new", "train");
        untilTold(() -> a.jobs().remove("new"));
        untilTold(() -> a.jobs().remove("train"));
        assertThat(a.jobs().now()).isEqualTo(new Jobs.Known(Map.of(), Set.of("new", "train")));
    }
}
