package io.clairfs.cache.plan.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.plan.model.Throughput.Point;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The curve of a place that several threads read. */
final class ContentionTest {
    private static List<Point> curve(Point... measured) {
        return new Contention(new Throughput(List.of(measured)), 0).rate().points();
    }

    @Test
    void points_thatAreConcave_stay() {
        assertThat(curve(new Point(1, 10), new Point(2, 18), new Point(4, 20)))
                .containsExactly(new Point(1, 10), new Point(2, 18), new Point(4, 20));
    }

    @Test
    void rate_thatFallsWithMoreReaders_staysAsItWas() {
        assertThat(curve(new Point(4, 20), new Point(8, 15))).containsExactly(new Point(4, 20));
    }

    @Test
    void point_belowTheLineOfItsNeighbours_isLeftOut() {
        assertThat(curve(new Point(1, 5), new Point(2, 6), new Point(4, 16)))
                .containsExactly(new Point(1, 5), new Point(4, 16));
        assertThat(curve(new Point(1, 2), new Point(4, 16))).containsExactly(new Point(4, 16));
    }
}
