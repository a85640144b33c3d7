package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrders;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trainers that read orders in files, of which some are gone, some are empty and some are still to be written. */
final class JobRunOrderFilesTest extends JobRunFixture {
    /** An order file that nobody writes any more. */
    private static void writeOrder(Path file, List<Integer> order) throws IOException {
        ByteBuffer numbers = ByteBuffer.allocate(order.size() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        order.forEach(numbers::putLong);
        Files.setLastModifiedTime(Files.write(file, numbers.array()), FileTime.fromMillis(0));
    }

    private static String line(Path orders, int epochs) {
        return "sampler=order-file epochs=" + epochs + " file=" + orders + "/{epoch}.i64";
    }

    @Test
    void jobThatGoesOn_needsNoOrderFilesOfFinishedEpochs_andWaitsForThatOfItsOwn(@TempDir Path orders)
            throws Exception {
        List<Integer> order = epoch("seed=4", 0, 0);
        writeOrder(orders.resolve("3.i64"), order);
        String line = line(orders, 9);

        JobRun run = goOn(line, AccessStream.position(3, 10));
        read(run, order.subList(10, SAMPLES / 2));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.positions()).containsExactly(AccessStream.position(3, SAMPLES / 2));
        JobRun waiting = goOn(line, AccessStream.position(5, 10));
        assertThat(waiting.awaitedOrder()).contains("5.i64");
        assertThat(waiting.progress().length()).isEqualTo(SAMPLES);
        assertThat(goOn(line, AccessStream.END).progress().done()).isTrue();
    }

    @Test
    void nodeThatIsMountedAnew_whenTheFirstOrderFilesAreGone_beginsWithTheFirstThatIsThere(@TempDir Path orders)
            throws Exception {
        List<Integer> order = epoch("seed=4", 0, 0);
        writeOrder(orders.resolve("3.i64"), order);
        String line = line(orders, 9);
        JobRun run = start(line);
        assertThat(run.positions()).containsExactly(AccessStream.position(3, 0));
        assertThat(run.usualLength()).isEqualTo(SAMPLES);
        assertThat(start(line + " ranks=none").epoch()).isEqualTo(3);

        read(run, order.subList(SAMPLES / 2, SAMPLES - 100));
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().epoch()).isEqualTo(3);
        assertThat(run.progress().position()).isBetween(SAMPLES - 110, SAMPLES - 100);
    }

    @Test
    void jobOfWhichNoOrderFileIsThere_waitsForTheFirst(@TempDir Path orders) throws Exception {
        JobSpec spec = JobSpec.parse(line(orders, 9));
        long[] nowMs = new long[1];
        EpochOrders looked =
                new EpochOrders(spec.sampler(dataset.index), SAMPLES, () -> TimeUnit.MILLISECONDS.toNanos(nowMs[0]));
        JobRun run = run(spec, looked);
        assertThat(run.awaitedOrder()).contains("0.i64: no such file");
        assertThat(run.usualLength()).as("an even share").isEqualTo(SAMPLES);
        List<Integer> order = epoch("seed=4", 0, 0);
        writeOrder(orders.resolve("0.i64"), order);
        for (int look = 0; look < 2; look++) { // two that agree
            nowMs[0] += 500;
            run.stream(0).nextToStage(1 << 20);
        }
        assertThat(run.awaitedOrder()).isNull();
        read(run, order);
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().position()).isEqualTo(SAMPLES);
    }

    @Test
    void emptyOrderFiles_arePassedOver(@TempDir Path orders) throws Exception {
        List<Integer> first = epoch("seed=4", 0, 0);
        List<Integer> last = epoch("seed=4", 1, 0);
        writeOrder(orders.resolve("0.i64"), first);
        writeOrder(orders.resolve("1.i64"), List.of());
        writeOrder(orders.resolve("2.i64"), List.of());
        writeOrder(orders.resolve("3.i64"), last);
        JobRun run = start(line(orders, 4));
        read(run, first);
        assertThat(run.progress().done()).isFalse();
        assertThat(run.positions()).containsExactly(AccessStream.position(3, 0));
        read(run, last);
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().done()).isTrue();
    }
}
