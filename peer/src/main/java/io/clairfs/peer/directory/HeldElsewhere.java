package io.clairfs.peer.directory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Which other node holds which sample: a copy of what these nodes published. It may be a second old, so a node may answer
 * that it does not have a sample (any more). A read takes no lock and makes no network call.
 *
 * <p>The sets of a few nodes are searched one by one. The nodes of a larger group have slots in a {@link HolderIndex}, which names the holders of a
 * sample at once, for two bytes more for each sample that a node holds. An index stays when the group shrinks.
 */
public final class HeldElsewhere {
    /** So many other nodes are searched; there is an index for more of them. */
    static final int SEARCHED = 8;

    /** A node announces what it can do every second; one that is silent for longer is not relied on. */
    private static final long ANNOUNCED_FOR_NS = TimeUnit.SECONDS.toNanos(4);

    private final int samples;
    private final int mostSearched;
    private final BitSet slots = new BitSet();
    private int lastSlot;
    private @Nullable HolderIndex index;
    private volatile View view = new View(List.of(), null);

    HeldElsewhere(int samples) {
        this(samples, SEARCHED);
    }

    /** The same with another number of nodes that are searched. */
    HeldElsewhere(int samples, int mostSearched) {
        this.samples = samples;
        this.mostSearched = mostSearched;
    }

    /** The other nodes at one moment; what they hold goes on changing. */
    public static final class View {
        private final HeldThere[] nodes;
        private final @Nullable HolderIndex index;

        /** The numbers of the nodes that are not in the index. */
        private final int[] searched;

        /** The number of each slot's node, -1 for a slot without one. */
        private final int[] numberOf;

        View(List<HeldThere> nodes, @Nullable HolderIndex index) {
            this.nodes = nodes.toArray(HeldThere[]::new);
            this.index = index;
            int[] slots = nodes.stream().mapToInt(HeldThere::slot).toArray();
            searched = IntStream.range(0, slots.length)
                    .filter(number -> slots[number] < 0)
                    .toArray();
            numberOf = new int[index == null ? 0 : HolderIndex.SLOTS];
            Arrays.fill(numberOf, -1);
            for (int number = 0; number < slots.length; number++) {
                if (slots[number] >= 0) {
                    numberOf[slots[number]] = number;
                }
            }
        }

        /** How many other nodes there are; they are numbered from 0, in the order of their names. */
        public int nodes() {
            return nodes.length;
        }

        /** A node by its number. */
        public Node node(int number) {
            return nodes[number].node();
        }

        /** The nodes that hold the sample, one bit for each of the first 64 numbers. */
        public long nodesThatHold(int sample) {
            long holders = 0;
            for (int i = Math.min(nodes.length, Long.SIZE) - 1; i >= 0; i--) {
                holders = holders << 1 | (nodes[i].holds(sample) ? 1 : 0);
            }
            return holders;
        }

        /** The first node from this number on that holds the sample, or -1. It works for any number of nodes. */
        public int nextHolder(int sample, int from) {
            int indexed = index == null ? -1 : index.nextHolder(sample, from, numberOf);
            if (indexed == HolderIndex.UNKNOWN) {
                return search(sample, from);
            }
            for (int number : searched) {
                if (indexed >= 0 && number > indexed) {
                    break;
                }
                if (number >= from && nodes[number].holds(sample)) {
                    return number;
                }
            }
            return indexed;
        }

        private int search(int sample, int from) {
            for (int i = from; i < nodes.length; i++) {
                if (nodes[i].holds(sample)) {
                    return i;
                }
            }
            return -1;
        }

        /** The first tier of a node that holds the sample, or -1. */
        public int tier(int sample, int number) {
            return nodes[number].tier(sample);
        }

        /** What a node can make for others, as it announced it last. */
        public SpareThreads spare(int number) {
            return spare(number, ANNOUNCED_FOR_NS);
        }

        /** The same of a node that may have been silent for so long. */
        SpareThreads spare(int number, long silentNs) {
            return nodes[number].spare(silentNs);
        }

        /** How many samples a node holds, in whatever tiers. */
        public int count(int number) {
            return nodes[number].count();
        }

        /** How many samples a node's tier holds. */
        public int count(int number, int tier) {
            return nodes[number].held(tier).getCardinality();
        }

        /** Memory of the set of samples of a node's tier, bytes. */
        public long memoryBytes(int number, int tier) {
            return nodes[number].held(tier).getLongSizeInBytes();
        }
    }

    /** The nodes with their numbers. All questions about one sample go to one view. */
    public View view() {
        return view;
    }

    @Nullable
    HeldThere of(UUID node) {
        for (HeldThere each : view.nodes) {
            if (each.node().id().equals(node)) {
                return each;
            }
        }
        return null;
    }

    /** Sets the nodes. A new node holds nothing yet; a node that left is forgotten. */
    synchronized void nodes(List<Node> nodes) {
        Set<HeldThere> left = new HashSet<>(List.of(view.nodes));
        List<HeldThere> next = new ArrayList<>();
        for (Node node : nodes) {
            HeldThere known = of(node.id());
            if (known != null) {
                next.add(known);
                left.remove(known);
            } else if (!node.self()) {
                next.add(new HeldThere(node));
            }
        }
        for (HeldThere gone : left) {
            int slot = gone.slot();
            gone.leave();
            if (slot >= 0) {
                slots.clear(slot);
            }
        }
        if (next.size() > mostSearched && index == null) {
            index = new HolderIndex(samples);
        }
        HolderIndex kept = index;
        if (kept != null) {
            next.forEach(each -> enter(each, kept));
        }
        next.sort(Comparator.comparing((HeldThere each) -> each.node().name())
                .thenComparing(each -> each.node().id()));
        view = new View(next, kept);
    }

    /** Gives a node a slot unless it has one or there is none. Slots are used in turn: readers of an older view may still know the last node of one. */
    private void enter(HeldThere node, HolderIndex index) {
        if (node.slot() < 0 && slots.cardinality() < HolderIndex.SLOTS) {
            do {
                lastSlot = (lastSlot + 1) % HolderIndex.SLOTS;
            } while (slots.get(lastSlot));
            slots.set(lastSlot);
            node.enter(index, lastSlot);
        }
    }

    /** Memory of the index, bytes. */
    long indexBytes() {
        HolderIndex kept = view.index;
        return kept == null ? 0 : kept.memoryBytes();
    }
}
