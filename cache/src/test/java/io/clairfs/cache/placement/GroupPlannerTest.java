package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The plans of two nodes of a group. */
final class GroupPlannerTest extends NodePlannerFixture {
    GroupPlannerTest() throws Exception {}

    /** Plans on one of two nodes, each with room for so many samples. */
    private NodePlanner ofTwo(Admission keeps, List<UUID> nodes, int self, int room) throws Exception {
        NodeStorage storage = NodeStorage.of(StorageClass.memory((long) room * SIZE));
        Group two =
                new Group(nodes, List.of(storage, storage), self, FileNumbers.of(dataset.tree), _ -> new int[] {0, 1});
        return new NodePlanner(
                dataset.tree,
                keeps,
                () -> two,
                PerformanceModel.unmeasured(),
                PlacementPolicy.CLAIRFS,
                PlanLimits.DEFAULT);
    }

    private JobRun firstOfTwo() throws Exception {
        return run("seed=1 epochs=9 world=2 ranks=0");
    }

    /** This is the first of two nodes, each with room for 52 of 90 samples, about half of which have their home here. */
    @Test
    void plan_roomThatHomesLeave_isForTheSamplesUsedNext() throws Exception {
        MemoryTier large = new MemoryTier(52 * SIZE);
        Admission keeps = new Admission(dataset.tree, large, List.of(), SIZE);
        JobRun run = firstOfTwo();
        UUID here = new UUID(1, 1);
        NodePlanner together = ofTwo(keeps, List.of(here, new UUID(2, 2)), 0, 52);
        LocalPlan plan = together.plan(List.of(run));
        keeps.follow(plan);
        int homes = 0;
        for (int sample = 0; sample < SAMPLES; sample++) {
            homes += here.equals(plan.homeOf(dataset.file(sample))) ? 1 : 0;
        }
        assertThat(homes).isBetween(38, 51);
        int room = 52 - homes;
        assertThat(plan.digest()).isNotZero();

        EpochOrder first = run.orders().epoch(0);
        List<Integer> offered = new ArrayList<>();
        for (int step = 0; step < first.length(0); step++) {
            int file = dataset.file(first.sample(0, step));
            SampleBuffer buffer = dataset.sample(first.sample(0, step));
            keeps.fetched(file, buffer, false);
            buffer.release();
            if (!here.equals(plan.homeOf(file))) {
                offered.add(first.sample(0, step));
            }
        }
        List<Integer> kept = new ArrayList<>();
        List<Integer> left = new ArrayList<>();
        for (int sample : offered) {
            (large.contains(dataset.file(sample)) ? kept : left).add(nextUse(run, sample));
        }
        assertThat(kept).hasSize(room);
        assertThat(left).isNotEmpty();
        assertThat(Collections.max(kept)).isLessThanOrEqualTo(Collections.min(left));

        ReplicaSpace again = Objects.requireNonNull(together.plan(List.of(run)).copies());
        assertThat(offered.stream().filter(sample -> again.tierOf(dataset.file(sample)) == 0))
                .as("what is kept is kept under a new plan, too")
                .hasSize(room);
        keeps.close();
        large.close();
    }

    /** The first epoch after the one that begins in which the first rank reads the sample. */
    private static int nextUse(JobRun run, int sample) throws Exception {
        for (int epoch = 1; epoch < run.spec().epochs(); epoch++) {
            EpochOrder order = run.orders().peek(epoch);
            for (int step = 0; step < order.length(0); step++) {
                if (order.sample(0, step) == sample) {
                    return epoch;
                }
            }
        }
        return Integer.MAX_VALUE;
    }

    /** As above, but one sample is read here before its home has it. */
    @Test
    void plan_whatItsHomeLacks_staysBeforeReplicas_andGoesWhenItsHomeHasIt() throws Exception {
        MemoryTier large = new MemoryTier(52 * SIZE);
        Admission keeps = new Admission(dataset.tree, large, List.of(), SIZE);
        UUID here = new UUID(1, 1);
        LocalPlan plan = ofTwo(keeps, List.of(here, new UUID(2, 2)), 0, 52).plan(List.of(firstOfTwo()));
        keeps.follow(plan);
        List<Integer> homes = new ArrayList<>();
        List<Integer> elsewhere = new ArrayList<>();
        for (int sample = 0; sample < SAMPLES; sample++) {
            int file = dataset.file(sample);
            (here.equals(plan.homeOf(file)) ? homes : elsewhere).add(file);
        }
        Set<Integer> there = new HashSet<>(elsewhere);
        int lacked = elsewhere.getFirst();
        there.remove(lacked);
        keeps.residents().tell(new HeldThere(there));

        int last = homes.removeLast();
        homes.forEach(file -> fetched(keeps, file));
        elsewhere.subList(1, elsewhere.size()).forEach(file -> fetched(keeps, file));
        long replicas = elsewhere.stream().filter(large::contains).count();
        assertThat(replicas).as("all room is taken but one").isEqualTo(51 - homes.size());
        fetched(keeps, lacked);
        assertThat(large.contains(lacked)).isTrue();
        fetched(keeps, last);
        assertThat(homes).allMatch(large::contains);
        assertThat(large.contains(last)).isTrue();
        assertThat(large.contains(lacked)).as("a replica went in its place").isTrue();
        assertThat(elsewhere.stream().filter(large::contains)).hasSize((int) replicas);

        there.add(lacked);
        keeps.residents().evict(0, last);
        elsewhere.subList(1, elsewhere.size()).forEach(file -> fetched(keeps, file));
        fetched(keeps, last);
        assertThat(large.contains(lacked)).as("its home has it").isFalse();
        assertThat(large.contains(last)).isTrue();
        assertThat(elsewhere.stream().filter(large::contains)).hasSize((int) replicas);
        keeps.close();
        large.close();
    }

    private void fetched(Admission keeps, int file) {
        SampleBuffer buffer = dataset.sample(dataset.index.sampleOf(file));
        keeps.fetched(file, buffer, false);
        buffer.release();
    }

    /** Another node holds these files. */
    private record HeldThere(Set<Integer> files) implements ResidencyListener {
        @Override
        public void kept(int tier, int file) {
            assertThat(tier).isZero();
        }

        @Override
        public void gone(int tier, int file) {
            assertThat(tier).isZero();
        }

        @Override
        public boolean isElsewhere(int file) {
            return files.contains(file);
        }
    }

    /** Two nodes that each have room for their part, 45 of 90 samples, and for the 5 that come for the next epoch. */
    @Test
    void plan_orderThatMovesSlowly_hasAPlanForEachEpochWithSamplesWhereTheyAreRead() throws Exception {
        JobRun run = run("sampler=partial-local exchange=0.1 seed=1 epochs=30 world=2 ranks=0");
        MemoryTier part = new MemoryTier(50 * SIZE);
        Admission keeps = new Admission(dataset.tree, part, List.of(), SIZE);
        List<UUID> nodes = List.of(new UUID(1, 1), new UUID(2, 2));
        NodePlanner first = ofTwo(keeps, nodes, 0, 50);
        LocalPlan plan = first.plan(List.of(run));
        assertMovesWithReaders(plan, run, nodes, 0);
        assertThat(plan.isStale()).isFalse();
        assertThat(ofTwo(keeps, nodes, 1, 50).plan(List.of(run)).digest()).isEqualTo(plan.digest());

        EpochOrder order = run.orders().epoch(0);
        for (int step = 0; step < order.length(0); step++) {
            run.read(dataset.file(order.sample(0, step)));
        }
        assertThat(run.epoch()).isEqualTo(1);
        assertThat(plan.isStale()).isTrue();
        LocalPlan next = first.plan(List.of(run));
        assertMovesWithReaders(next, run, nodes, 1);
        assertThat(next.digest()).isNotEqualTo(plan.digest());
        assertThat(next.isStale()).isFalse();
        keeps.close();
        part.close();
    }

    /** The home of each sample is its reader in this epoch; the first node also wants what it reads in the next one, and no more. */
    private void assertMovesWithReaders(LocalPlan plan, JobRun run, List<UUID> nodes, int epoch) throws Exception {
        List<Integer> wanted = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            EpochOrder now = run.orders().epoch(epoch);
            EpochOrder after = run.orders().epoch(epoch + 1);
            for (int step = 0; step < now.length(rank); step++) {
                assertThat(plan.homeOf(dataset.file(now.sample(rank, step)))).isEqualTo(nodes.get(rank));
                if (rank == 0) {
                    wanted.add(now.sample(0, step));
                    wanted.add(after.sample(0, step));
                }
            }
        }
        assertThat(plannedFor(plan, 0))
                .containsExactlyElementsOf(wanted.stream().sorted().distinct().toList());
    }

    /** Two nodes read one half each, and change halves after the first epoch. */
    @Test
    void plan_fileOfEachEpoch_isForTheFirst_untilAllAreThere_whicheverNodeSeesThemFirst(@TempDir Path orders)
            throws Exception {
        MemoryTier part = new MemoryTier(50 * SIZE);
        Admission keeps = new Admission(dataset.tree, part, List.of(), SIZE);
        List<UUID> nodes = List.of(new UUID(1, 1), new UUID(2, 2));
        String line = "sampler=order-file epochs=3 world=2 file=" + orders + "/{epoch}.{rank}";
        writeOrders(orders, 0, 0);
        JobRun early = run(line + " ranks=0");
        LocalPlan first = ofTwo(keeps, nodes, 0, 50).plan(List.of(early));
        assertHomesAreReaders(first, nodes, 0);
        writeOrders(orders, 1, 1);
        assertThat(first.isStale()).isFalse();
        LocalPlan second = ofTwo(keeps, nodes, 1, 50).plan(List.of(run(line + " ranks=1")));
        assertThat(second.digest()).as("one file more, but not all").isEqualTo(first.digest());

        writeOrders(orders, 2, 1);
        LocalPlan later = ofTwo(keeps, nodes, 1, 50).plan(List.of(run(line + " ranks=1")));
        assertThat(later.isStale()).isFalse();
        assertThat(first.isStale()).as("another node may have seen them all").isTrue();
        LocalPlan again = ofTwo(keeps, nodes, 0, 50).plan(List.of(early));
        assertThat(again.digest()).isEqualTo(later.digest());

        JobRun waiting = run(line + " ranks=1");
        Files.delete(orders.resolve("0.0"));
        assertThatThrownBy(() -> ofTwo(keeps, nodes, 1, 50).plan(List.of(waiting)))
                .as("its trainer is in the first epoch")
                .isInstanceOf(OrderNotReadyException.class);
        keeps.close();
        part.close();
    }

    /** The job has gone on in another process in epoch 3; the nodes change halves after it. */
    @Test
    void plan_filesOfFinishedEpochsAreGone_isForThatInWhichTheTrainersAre(@TempDir Path orders) throws Exception {
        MemoryTier part = new MemoryTier(50 * SIZE);
        Admission keeps = new Admission(dataset.tree, part, List.of(), SIZE);
        List<UUID> nodes = List.of(new UUID(1, 1), new UUID(2, 2));
        String line = "sampler=order-file epochs=9 world=2 file=" + orders + "/{epoch}.{rank}";
        writeOrders(orders, 3, 1);
        writeOrders(orders, 4, 0);
        JobRun run = goOn(line + " ranks=0", AccessStream.position(3, 10));
        NodePlanner first = ofTwo(keeps, nodes, 0, 50);
        LocalPlan plan = first.plan(List.of(run));
        assertHomesAreReaders(plan, nodes, 1);
        assertThat(plan.isStale()).isFalse();
        JobRun there = goOn(line + " ranks=1", AccessStream.position(3, 20));
        assertThat(ofTwo(keeps, nodes, 1, 50).plan(List.of(there)).digest()).isEqualTo(plan.digest());

        EpochOrder order = run.orders().epoch(3);
        for (int step = 10; step < order.length(0); step++) {
            run.read(dataset.file(order.sample(0, step)));
        }
        assertThat(run.epoch()).isEqualTo(4);
        assertThat(plan.isStale())
                .as("the other node may have planned in this epoch")
                .isTrue();
        LocalPlan next = first.plan(List.of(run));
        assertHomesAreReaders(next, nodes, 0);
        assertThat(next.isStale()).isFalse();
        keeps.close();
        part.close();
    }

    private JobRun goOn(String line, long position) throws Exception {
        JobSpec spec = JobSpec.parse(line);
        return new JobRun(
                spec,
                dataset.index,
                dataset.tree,
                staging(),
                new EpochOrders(spec.sampler(dataset.index), SAMPLES, System::nanoTime),
                System::nanoTime,
                new long[] {position});
    }

    /** The order files of an epoch in which the first of two ranks reads this half of the samples, not in the order of their names. */
    private static void writeOrders(Path orders, int epoch, int halfOfTheFirst) throws IOException {
        int half = SAMPLES / 2;
        for (int rank = 0; rank < 2; rank++) {
            int from = (halfOfTheFirst + rank) % 2 * half;
            String text = IntStream.range(0, half)
                    .mapToObj(step -> Integer.toString(from + step * 7 % half))
                    .collect(Collectors.joining("\n"));
            Path file = Files.writeString(orders.resolve(epoch + "." + rank), text);
            Files.setLastModifiedTime(file, FileTime.fromMillis(0)); // else it may still be being written
        }
    }

    /** The home of each sample is its reader where the first of two nodes reads this half of them. */
    private void assertHomesAreReaders(LocalPlan plan, List<UUID> nodes, int halfOfTheFirst) {
        for (int sample = 0; sample < SAMPLES; sample++) {
            int half = sample / (SAMPLES / 2);
            assertThat(plan.homeOf(dataset.file(sample)))
                    .as("sample %d", sample)
                    .isEqualTo(nodes.get((half + halfOfTheFirst) % 2));
        }
    }
}
