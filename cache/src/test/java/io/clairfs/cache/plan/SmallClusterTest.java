package io.clairfs.cache.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.SmallCluster.Reads;
import io.clairfs.cache.plan.request.PlacementPolicy;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the policies come to when a cluster reads by them: against the traffic bound, and against one another. */
final class SmallClusterTest {

    @ParameterizedTest
    @CsvSource({"16, 0.5", "16, 1.0", "16, 2.0", "4, 2.0"})
    void reads_ofUniformSamples(int nodes, double datasets) throws InvalidSpecException {
        SmallCluster cluster = new SmallCluster(8000, 30, nodes, datasets, 7);
        Reads nopfs = cluster.planned(PlacementPolicy.NOPFS);
        Reads lobster = cluster.planned(PlacementPolicy.LOBSTER);
        Reads lobsterRun = cluster.lastCopiesAndNextUse();
        Reads planned = cluster.planned(PlacementPolicy.CLAIRFS);
        Reads best = cluster.homesAndNextUse();
        System.out.printf(
                "%d nodes, %.1f S:%n  nopfs              %s%n  lobster, planned   %s%n  lobster, run       %s%n"
                        + "  clairfs, planned   %s%n  clairfs, next use  %s%n",
                nodes, datasets, nopfs, lobster, lobsterRun, planned, best);
        assertThat(best.overBound()).isEqualTo(1, within(0.002));
        assertThat(planned.overBound()).isEqualTo(1, within(0.002));
        assertThat(best.source()).isLessThanOrEqualTo(nopfs.source());
        assertThat(best.source()).isLessThanOrEqualTo(lobster.source());
        assertThat(best.source()).isLessThanOrEqualTo(lobsterRun.source());
        if (datasets >= 2) {
            assertThat(best.local()).isGreaterThan(nopfs.local());
            assertThat(best.local()).isGreaterThanOrEqualTo(planned.local());
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.1, 0.5, 0.9, 1.0, 1.5})
    void reads_ofOneNode_reachTheBound(double datasets) throws InvalidSpecException {
        SmallCluster cluster = new SmallCluster(1000, 6, 1, datasets, 5);
        for (PlacementPolicy policy : PlacementPolicy.values()) {
            assertThat(cluster.planned(policy).overBound()).isEqualTo(1, within(1e-9));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void reads_ofTheSource_areNeverMoreThanThePapers(long seed) throws InvalidSpecException {
        for (double datasets = 0.25; datasets < 3; datasets += 0.25) {
            SmallCluster cluster = new SmallCluster(640, 10, 8, datasets, seed);
            double source = cluster.homesAndNextUse().source();
            String what = "seed " + seed + ", " + datasets + " S";
            assertThat(source)
                    .as(what)
                    .isLessThanOrEqualTo(cluster.planned(PlacementPolicy.NOPFS).source());
            assertThat(source)
                    .as(what)
                    .isLessThanOrEqualTo(
                            cluster.planned(PlacementPolicy.LOBSTER).source());
            assertThat(source)
                    .as(what)
                    .isLessThanOrEqualTo(cluster.lastCopiesAndNextUse().source());
        }
    }
}
