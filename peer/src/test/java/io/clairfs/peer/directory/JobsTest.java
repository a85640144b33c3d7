package io.clairfs.peer.directory;

import static io.clairfs.peer.directory.Waits.eventually;
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
        a.jobs().put("train", "seed=7");
        a.jobs().putRanks("train", "0");
        a.jobs().remove("train");
        GroupMembership b = members.open(1);
        assertThat(b.jobs().now()).isEqualTo(new Jobs.Known(Map.of(), Set.of("train")));
        untilTold(() -> b.jobs().put("train", "seed=8"));
        eventually(() -> a.jobs().now().running().containsKey("train"));
        assertThat(a.jobs().now())
                .isEqualTo(new Jobs.Known(Map.of("train", new Job("train", "seed=8", Map.of())), Set.of()));
    }

    @Test
    @Execution(CONCURRENT)
    void jobThatTheGroupHasLost_isPutBack_asItWas() throws Exception {
        GroupMembership a = members.open(0);
        a.jobs().put("train", "seed=7");
        a.hazelcast().getReplicatedMap(Jobs.LINES).clear();
        assertThat(a.jobs().now().running()).isEmpty();
        a.jobs().putBack("train", "seed=7");
        a.jobs().putBack("new", "seed=8"); // as after all nodes have begun anew
        assertThat(a.jobs().now().running().keySet()).containsExactly("new", "train");
        a.jobs().remove("new");
        a.jobs().remove("train");
        assertThat(a.jobs().now()).isEqualTo(new Jobs.Known(Map.of(), Set.of("new", "train")));
    }
}
