package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.plan.FurtherCopies;
import io.clairfs.cache.plan.NextUse;
import io.clairfs.cache.plan.model.NodeStorage;
import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** The samples that one node keeps by next use ({@link FurtherCopies}), and their classes: a sample goes to the fastest class that then has room. */
final class Copies {
    private static final byte ABSENT = -1;

    private final int[] sizes;
    private final NodeStorage classes;
    private final FurtherCopies kept;
    private final long[] left;
    private final byte[] classOf;

    /** {@code left} is the room in each class, {@code room} that in all together, bytes. */
    Copies(Setup setup, long[] left, long room) {
        sizes = setup.load().sizes();
        this.left = left.clone();
        classes = setup.scenario().storage();
        kept = new FurtherCopies(sizes.length, sample -> classes.bytesOf(sizes[sample]), room, 0);
        classOf = new byte[sizes.length];
        Arrays.fill(classOf, ABSENT);
    }

    /**
     * Reads the node's samples of one epoch, and offers it a copy of each sample that has its home elsewhere.
     *
     * @param nextUses null if there is room for all, so that nothing is evicted
     * @param homes whether a sample has a home on another node
     * @param held receives, by step, the class that had a copy when it was read, or -1
     */
    void readAll(EpochOrder order, int node, int epoch, @Nullable NextUses nextUses, IntPredicate homes, byte[] held) {
        for (int step = 0; step < held.length; step++) {
            int sample = order.sample(node, step);
            held[step] = ABSENT;
            if (homes.test(sample)) {
                held[step] = classOf[sample];
                if (nextUses == null && held[step] == ABSENT) {
                    offer(sample, epoch + 1, _ -> true, _ -> {});
                } else if (nextUses != null) {
                    int due = nextUses.after(node, epoch, sample);
                    if (held[step] != ABSENT || due != NextUse.NEVER) {
                        offer(sample, due, _ -> true, _ -> {});
                    }
                }
            }
        }
    }

    /** The class that keeps the sample, or -1. */
    int storageClass(int sample) {
        return classOf[sample];
    }

    /**
     * Works like {@link FurtherCopies#offer(int, int, IntPredicate, IntConsumer)}; {@code gone} is also called if the sample itself is
     * evicted.
     */
    boolean offer(int sample, int dueEpoch, IntPredicate mayGo, IntConsumer gone) {
        boolean before = kept.contains(sample);
        boolean after = kept.offer(sample, dueEpoch, mayGo, victim -> {
            release(victim);
            gone.accept(victim);
        });
        if (after && !before) {
            classOf[sample] = (byte) roomiest(sizes[sample]);
            left[classOf[sample]] -= bytesIn(classOf[sample], sizes[sample]);
        } else if (before && !after) {
            release(sample);
            gone.accept(sample);
        }
        return after;
    }

    private void release(int sample) {
        left[classOf[sample]] += bytesIn(classOf[sample], sizes[sample]);
        classOf[sample] = ABSENT;
    }

    private long bytesIn(int storageClass, int size) {
        return classes.classes().get(storageClass).bytesOf(size);
    }

    /** The fastest class with room. If only the room of several classes together suffices, the class with the most room. */
    private int roomiest(int size) {
        int best = 0;
        for (int j = 0; j < left.length; j++) {
            if (left[j] >= bytesIn(j, size)) {
                return j;
            }
            if (left[j] > left[best]) {
                best = j;
            }
        }
        return best;
    }
}
