package io.clairfs.tools.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.peer.directory.Discovery;
import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.node.config.GroupConfig;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node that has not joined its group yet. */
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
}
