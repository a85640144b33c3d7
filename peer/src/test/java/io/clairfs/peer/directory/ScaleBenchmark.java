package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.roaringbitmap.RoaringBitmap;

/**
 * What each of 256 nodes takes to know what all of them hold of 14,197,122 samples. {@code .ci/long-run scale} runs it.
 *
 * <p>The tables and the messages are those of real nodes, the topic between them is a model ({@link ModelledGroup}). Times are processor times of
 * one thread. Only views that differ from what nodes hold make it fail.
 */
@Timeout(1800)
final class ScaleBenchmark {
    private static final int NODES = 256;
    private static final int SAMPLES = 14_197_122;
    private static final int LOOKS = 200_000;
    private static final int PUBLISHED = 6;
    private static final int[] RECEIVERS = {0, 100, 255};
    private static final double MEGA = 1e6;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void all_nodes_know_what_every_other_one_holds(boolean nextUses) throws IOException {
        Random random = new Random(1);
        ModelledGroup group = new ModelledGroup(NODES, SAMPLES);
        group.holdHomes(1);
        if (nextUses) {
            group.holdNextUses(2);
        }
        System.out.printf(
                "%d nodes, %,d samples, %s%n",
                NODES, SAMPLES, nextUses ? "homes and as many samples that are read next (2 S)" : "homes (1 S)");
        ModelledGroup.Messages first = group.deltas();
        ModelledGroup.Messages whole = group.whole();
        System.out.printf(
                "state of the group as a node that joins gets it: %,.1f MB in %d messages%n",
                whole.bytes() / MEGA * (NODES - 1) / NODES, whole.count() * (NODES - 1) / NODES);
        HeldElsewhere[] views = new HeldElsewhere[RECEIVERS.length];
        for (int i = 0; i < views.length; i++) {
            // one joins when all hold what they hold, the others have followed it from the beginning
            views[i] = filled(group, i == 0 ? whole : first, RECEIVERS[i], HeldElsewhere.SEARCHED);
        }
        HeldElsewhere searched = filled(group, whole, RECEIVERS[0], Integer.MAX_VALUE);
        look("searched one by one", searched.view(), random, LOOKS / 20);
        look("by the index", views[0].view(), random, LOOKS);
        status(views[0].view());
        steady(group, views, searched, random);
        for (int i = 0; i < views.length; i++) {
            assertAgree(group, views[i], RECEIVERS[i]);
        }
        assertHolders(group, views[0], RECEIVERS[0], random);
    }

    private static HeldElsewhere filled(
            ModelledGroup group, ModelledGroup.Messages messages, int self, int mostSearched) throws IOException {
        long before = usedBytes();
        long start = THREADS.getCurrentThreadCpuTime();
        HeldElsewhere view = group.view(self, mostSearched);
        group.hand(messages, view);
        double seconds = (THREADS.getCurrentThreadCpuTime() - start) / 1e9;
        long sets = 0;
        for (int node = 0; node < NODES; node++) {
            for (int tier = 0; node != self && tier < HeldHere.MOST_TIERS; tier++) {
                sets += group.seen(view, node, tier).getLongSizeInBytes();
            }
        }
        System.out.printf(
                "view of node %d: %.1f MB of heap (sets %.1f MB, index %.1f MB), filled in %.2f s%n",
                self, (usedBytes() - before) / MEGA, sets / MEGA, view.indexBytes() / MEGA, seconds);
        return view;
    }

    private static long usedBytes() {
        System.gc();
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private static void look(String how, HeldElsewhere.View view, Random random, int looks) {
        int[] samples = random.ints(looks, 0, SAMPLES).toArray();
        double first = nanoseconds(samples, sample -> view.nextHolder(sample, 0));
        double all = nanoseconds(samples, sample -> holders(view, sample));
        System.out.printf("a sample's first holder, %s: %,.0f ns; all its holders: %,.0f ns%n", how, first, all);
    }

    private static int holders(HeldElsewhere.View view, int sample) {
        int holders = 0;
        for (int i = view.nextHolder(sample, 0); i >= 0; i = view.nextHolder(sample, i + 1)) {
            holders++;
        }
        return holders;
    }

    /** The median of five rounds, after two that do not count. */
    private static double nanoseconds(int[] samples, IntUnaryOperator look) {
        double[] rounds = new double[5];
        long found = 0;
        for (int round = -2; round < rounds.length; round++) {
            long start = THREADS.getCurrentThreadCpuTime();
            for (int sample : samples) {
                found += look.applyAsInt(sample);
            }
            if (round >= 0) {
                rounds[round] = (double) (THREADS.getCurrentThreadCpuTime() - start) / samples.length;
            }
        }
        assertThat(found).isNotZero();
        java.util.Arrays.sort(rounds);
        return rounds[rounds.length / 2];
    }

    /** Counts as the group's part of the status does. */
    private static void status(HeldElsewhere.View view) {
        double ns = nanoseconds(new int[20], _ -> {
            int samples = 0;
            for (int i = 0; i < view.nodes(); i++) {
                for (int tier = 0; tier < HeldHere.MOST_TIERS; tier++) {
                    samples += view.count(i, tier);
                }
            }
            return samples;
        });
        System.out.printf("what all nodes hold, counted for the status: %.2f ms%n", ns / 1e6);
    }

    /** What each node receives, and what that costs it, at rates of change and intervals between deltas. */
    private static void steady(ModelledGroup group, HeldElsewhere[] views, HeldElsewhere searched, Random random)
            throws IOException {
        System.out.println(
                "replaced by each  ms between  bytes of  received by each    processor, percent   garbage, MB/s");
        System.out.println(
                "node, samples/s   deltas      a delta   kB/s   messages/s   (without the index)  (without)");
        for (int each : new int[] {20, 100, 500, 2_000}) {
            for (int everyMs : new int[] {DirectoryTimes.DEFAULT.publishMs(), 2_000}) {
                long bytes = 0;
                long count = 0;
                Cost indexed = new Cost();
                Cost without = new Cost();
                for (int i = 0; i < PUBLISHED; i++) {
                    group.change(each * everyMs / 1_000, random);
                    ModelledGroup.Messages deltas = group.deltas();
                    bytes += deltas.bytes();
                    count += deltas.count();
                    for (HeldElsewhere view : views) {
                        indexed.of(() -> group.hand(deltas, view));
                    }
                    without.of(() -> group.hand(deltas, searched));
                }
                double seconds = PUBLISHED * everyMs / 1e3;
                double received = (NODES - 1) / seconds / NODES;
                System.out.printf(
                        "%16d %11d %9d %9.0f %9.0f %9.1f (%.1f) %14.0f (%.0f)%n",
                        each,
                        everyMs,
                        bytes / count,
                        bytes * received / 1e3,
                        count * received,
                        100 * indexed.cpuNs / 1e9 / seconds / views.length,
                        100 * without.cpuNs / 1e9 / seconds,
                        indexed.garbage / MEGA / seconds / views.length,
                        without.garbage / MEGA / seconds);
            }
        }
    }

    /** What calls of this thread took. */
    private static final class Cost {
        private long cpuNs;
        private long garbage;

        interface Work {
            void run() throws IOException;
        }

        void of(Work work) throws IOException {
            long start = THREADS.getCurrentThreadCpuTime();
            long allocated = THREADS.getCurrentThreadAllocatedBytes();
            work.run();
            garbage += THREADS.getCurrentThreadAllocatedBytes() - allocated;
            cpuNs += THREADS.getCurrentThreadCpuTime() - start;
        }
    }

    private static void assertAgree(ModelledGroup group, HeldElsewhere view, int self) {
        assertThat(view.view().nodes()).isEqualTo(NODES - 1);
        for (int node = 0; node < NODES; node++) {
            for (int tier = 0; node != self && tier < 2; tier++) {
                assertThat(group.seen(view, node, tier).equals(group.held(node, tier)))
                        .as("node %d knows what node %d holds in tier %d", self, node, tier)
                        .isTrue();
            }
        }
    }

    /** All holders of some samples; of all samples, how many there are. */
    private static void assertHolders(ModelledGroup group, HeldElsewhere elsewhere, int self, Random random) {
        HeldElsewhere.View view = elsewhere.view();
        for (int look = 0; look < 5_000; look++) {
            int sample = random.nextInt(SAMPLES);
            RoaringBitmap expected = new RoaringBitmap();
            for (int node = 0; node < NODES; node++) {
                if (node != self && group.holds(node, sample)) {
                    expected.add(node);
                }
            }
            RoaringBitmap found = new RoaringBitmap();
            for (int i = view.nextHolder(sample, 0); i >= 0; i = view.nextHolder(sample, i + 1)) {
                found.add(group.number(view.node(i)));
            }
            assertThat(found).as("holders of sample %d", sample).isEqualTo(expected);
        }
        long held = 0;
        for (int node = 0; node < NODES; node++) {
            held += node == self
                    ? 0
                    : group.held(node, 0).getCardinality() + group.held(node, 1).getCardinality();
        }
        long found = 0;
        for (int sample = 0; sample < SAMPLES; sample++) {
            found += holders(view, sample);
        }
        assertThat(found).isEqualTo(held);
    }
}
