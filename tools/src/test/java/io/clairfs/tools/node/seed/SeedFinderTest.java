package io.clairfs.tools.node.seed;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.order.FileLooks;
import io.clairfs.tools.node.UnmountedNode;
import io.clairfs.tools.node.job.JobTable;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the search costs where it cannot succeed. That it finds orders is tested on real mounts. */
final class SeedFinderTest {
    private static final int SAMPLES = 100;
    private static final int READ_MS = 3_000;

    /** An index of a million names takes seconds to be refused. */
    @Test
    void indexThatIsRefused_isNotBuiltAtEachLook(@TempDir Path directory) throws Exception {
        AtomicInteger built = new AtomicInteger();
        IndexRule refusing = (_, _) -> {
            built.incrementAndGet();
            throw new DatasetException("no class directories");
        };
        UnmountedNode node = new UnmountedNode(directory, SAMPLES, new FileLooks(), refusing);
        try {
            JobTable jobs = new JobTable(node.indexes, node.prefetcher, null, node.errors, System::nanoTime);
            SeedFinder finder = node.closing(new SeedFinder(
                    true, directory.resolve("mount"), node.dataset.tree, node.indexes, jobs, node.errors));
            finder.begin();
            long begunNs = System.nanoTime();
            for (int read = 0; read < READ_MS; read++) {
                int file = node.dataset.index.file(read % SAMPLES);
                finder.asked(1, file);
                finder.closed(new int[] {file}, 1);
                TimeUnit.MILLISECONDS.sleep(1);
            }
            long tookS = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begunNs);
            assertThat(built.get()).as("once in ten seconds for a root").isBetween(1, (int) (2 * (1 + tookS / 10)));
        } finally {
            node.close();
        }
    }
}
