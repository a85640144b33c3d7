package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.model.NodeStorage;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The result of a plan: where each sample is kept. Immutable to its users; may be shared between threads.
 *
 * <p>Homes are known for all samples, two bytes each. The classes of one node take one byte per sample, and are computed when that node is
 * first asked for: a daemon needs its own only, a simulator those of each. Until {@link #onlyFor} is called the placement holds on to the
 * planner's tables for this.
 */
public final class Placement {
    /** No node, no class. */
    public static final int NONE = -1;

    private final Homes homes;
    private final long[] roomForCopies;
    private final @Nullable NodePacker packer;
    private final boolean shouldMove;
    private final AtomicReferenceArray<NodePacker.Contents> nodes;

    private Placement(Homes homes, long[] roomForCopies, @Nullable NodePacker packer, boolean shouldMove) {
        this.homes = homes;
        this.roomForCopies = roomForCopies;
        this.packer = packer;
        this.shouldMove = shouldMove;
        nodes = new AtomicReferenceArray<>(roomForCopies.length);
    }

    public Placement(Homes homes, Rooms rooms, NodePacker packer, boolean shouldMove) {
        this(homes, new long[homes.bytes().length], packer, shouldMove);
        for (int node = 0; node < roomForCopies.length; node++) {
            roomForCopies[node] = Math.max(0, rooms.usable(node) - homes.bytes()[node]);
        }
    }

    /** This placement with the classes of one node only; the planner's tables can go. */
    public Placement onlyFor(int node) {
        Placement small = new Placement(homes, roomForCopies, null, shouldMove);
        small.nodes.set(node, contents(node));
        return small;
    }

    /** Computes what all nodes keep, for {@code threads} nodes at a time; each takes 16 bytes per sample meanwhile. */
    public void packAll(int threads) {
        IntStream.range(0, threads).parallel().forEach(first -> {
            for (int node = first; node < nodes(); node += threads) {
                NodePacker.Contents _ = contents(node);
            }
        });
    }

    private NodePacker.Contents contents(int node) {
        NodePacker.Contents known = nodes.get(node);
        return known != null ? known : pack(node);
    }

    /** Threads that ask for a node at the same moment compute the same. */
    private NodePacker.Contents pack(int node) {
        if (packer == null) {
            throw new IllegalStateException("this placement was kept for other nodes than " + node);
        }
        nodes.compareAndSet(node, null, packer.pack(node));
        return nodes.get(node);
    }

    /**
     * Whether nodes would read less from one another if each sample moved with its readers: then a placement for each epoch
     * ({@code Planner.follow}) is better than this one.
     */
    public boolean shouldMove() {
        return shouldMove;
    }

    public int samples() {
        return homes.of().length;
    }

    public int nodes() {
        return nodes.length();
    }

    /** The owner of a sample, or {@link #NONE}: such a sample is read from the source. */
    public int home(int sample) {
        return homes.of()[sample];
    }

    /**
     * The class in which the node keeps the sample, as its home or as a further copy, or {@link #NONE}. The first question
     * about a node takes as long as looking through all samples.
     */
    public int storageClass(int node, int sample) {
        return contents(node).classOf()[sample];
    }

    /**
     * The samples that the node keeps in this class, in the order of first use by any node from the plan's first epoch on: the order in
     * which to fill it. Not to be changed. The first question about a node takes as long as with {@link #storageClass}.
     */
    public int[] fillOrder(int node, int storageClass) {
        return contents(node).order()[storageClass];
    }

    /** Bytes of this class's capacity that are taken when all is in place. */
    public long plannedBytes(int node, int storageClass) {
        return contents(node).bytes()[storageClass];
    }

    /** Bytes that the samples with their home at this node take at most ({@link NodeStorage#bytesOf}), in all classes. */
    public long homeBytes(int node) {
        return homes.bytes()[node];
    }

    /**
     * Bytes of the node's classes that homes leave for further copies, planned ones or those of {@code FurtherCopies}; each takes
     * what {@link NodeStorage#bytesOf} says.
     */
    public long roomForCopies(int node) {
        return roomForCopies[node];
    }
}
