package io.clairfs.peer.directory;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Which other node holds which sample: a copy of what these nodes published. It may be a second old, so a node may answer
 * that it does not have a sample (any more). A read takes no lock and makes no network call.
 */
public final class HeldElsewhere {
    private volatile View view = new View(List.of());

    HeldElsewhere() {}

    /** The other nodes at one moment; what they hold goes on changing. */
    public static final class View {
        private final HeldThere[] nodes;

        View(List<HeldThere> nodes) {
            this.nodes = nodes.toArray(HeldThere[]::new);
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
        List<HeldThere> next = new ArrayList<>();
        for (Node node : nodes) {
            if (!node.self()) {
                HeldThere known = of(node.id());
                next.add(known != null ? known : new HeldThere(node));
            }
        }
        next.sort(Comparator.comparing((HeldThere each) -> each.node().name())
                .thenComparing(each -> each.node().id()));
        view = new View(next);
    }
}
