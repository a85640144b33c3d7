package io.clairfs.cache.dataset;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job whose order file names samples by path. */
class OrderFileOfPathsTest {
    @TempDir
    Path directory;

    @TempDir
    Path orders;

    @Test
    void paths_becomeTheIndexesOfTheRule() throws Exception {
        TestTree tree = new TestTree(directory).file("b/x.jpg").file("a/y.jpg").file("a/x.jpg");
        DatasetTree listed = tree.list();
        SampleIndex index = IndexRule.of("imagefolder").index(listed, listed.root());
        JobSpec job = JobSpec.parse(
                "sampler=order-file epochs=2 start_epoch=1 batch=1 skip_batches=1 file=" + orders + "/{epoch}");
        Files.write(orders.resolve("1"), List.of("a/y.jpg", "b/x.jpg", "./a/x.jpg"));
        EpochOrder order = job.sampler(index).epoch(1);
        assertThat(order.length(0)).isEqualTo(2);
        assertThat(order.sample(0, 0)).isEqualTo(2);
        assertThat(order.sample(0, 1)).isEqualTo(0);
        tree.close();
    }
}
