package io.clairfs.peer.directory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.roaringbitmap.RoaringBitmap;

/**
 * The nodes of a large group in one process. What they hold, and what they tell each other of it, is in the classes that real nodes use; the topic
 * between them is modelled: it hands each encoded message to every receiver and loses none.
 *
 * <p>All nodes send. Views of what the others hold exist for the receivers alone.
 */
final class ModelledGroup {
    /** The encoded messages of each node. */
    record Messages(List<List<byte[]>> bySender) {
        long bytes() {
            return bySender.stream()
                    .flatMap(List::stream)
                    .mapToLong(message -> message.length)
                    .sum();
        }

        long count() {
            return bySender.stream().mapToLong(List::size).sum();
        }
    }

    private final int samples;
    private final List<Node> nodes = new ArrayList<>();
    private final List<Contents> contents = new ArrayList<>();

    /** What one node holds: in its own class, in plain sets to compare with, and as a list from which to draw. */
    private static final class Contents {
        private final HeldHere here;
        private final List<RoaringBitmap> tiers = List.of(new RoaringBitmap(), new RoaringBitmap());
        private int[] all = new int[64];
        private int count;

        Contents(HeldHere here) {
            this.here = here;
        }

        /** A quarter of the samples is in memory, the rest on an SSD. */
        private static int tier(int sample) {
            return sample % 4 == 0 ? 0 : 1;
        }

        boolean add(int sample) {
            if (!tiers.get(tier(sample)).checkedAdd(sample)) {
                return false;
            }
            here.added(tier(sample), sample);
            all = count == all.length ? Arrays.copyOf(all, count * 2) : all;
            all[count++] = sample;
            return true;
        }

        void removeOne(Random random) {
            int at = random.nextInt(count);
            int sample = all[at];
            all[at] = all[--count];
            tiers.get(tier(sample)).remove(sample);
            here.removed(tier(sample), sample);
        }
    }

    ModelledGroup(int size, int samples) {
        this.samples = samples;
        for (int node = 0; node < size; node++) {
            UUID id = new UUID(node, node);
            nodes.add(new Node(
                    id,
                    "node%03d".formatted(node),
                    List.of(InetSocketAddress.createUnresolved("192.0.2." + node, 5702)),
                    new byte[16],
                    false));
            contents.add(new Contents(new HeldHere(samples, node + 1)));
        }
    }

    int size() {
        return nodes.size();
    }

    int number(Node node) {
        return nodes.indexOf(node);
    }

    /** Each sample gets one home, as a plan does it: the same number on all nodes, unrelated to the samples' numbers. */
    void holdHomes(long seed) {
        int[] order = shuffled(seed);
        for (int i = 0; i < samples; i++) {
            contents.get(i % size()).add(order[i]);
        }
    }

    /** Each node also gets what its rank reads next, in the middle of an epoch of a distributed sampler: as many samples again. */
    void holdNextUses(long seed) {
        int[] now = shuffled(seed);
        int[] next = shuffled(seed + 1);
        for (int i = 0; i < samples; i++) {
            contents.get(i % size()).add(i < samples / 2 ? next[i] : now[i]);
        }
    }

    private int[] shuffled(long seed) {
        Random random = new Random(seed);
        int[] order = new int[samples];
        for (int i = 0; i < samples; i++) {
            int other = random.nextInt(i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        return order;
    }

    /** Every node replaces so many of its samples by others. */
    void change(int each, Random random) {
        for (Contents node : contents) {
            for (int i = 0; i < each; i++) {
                node.removeOne(random);
                while (!node.add(random.nextInt(samples))) {
                    assert node.count < samples;
                }
            }
        }
    }

    /** The view of a node that has just joined: it knows the others, and not what they hold. */
    HeldElsewhere view(int self, int mostSearched) {
        HeldElsewhere view = new HeldElsewhere(samples, mostSearched);
        List<Node> seen = new ArrayList<>(nodes);
        Node own = nodes.get(self);
        seen.set(self, new Node(own.id(), own.name(), own.transferAddresses(), own.about(), true));
        view.nodes(seen);
        return view;
    }

    /** What the nodes publish of their changes. */
    Messages deltas() {
        return new Messages(contents.stream()
                .map(node ->
                        node.here.deltas().stream().map(HoldingsMessage::write).toList())
                .toList());
    }

    /** What the nodes answer to one that joins. */
    Messages whole() {
        return new Messages(contents.stream()
                .map(node ->
                        node.here.whole().stream().map(HoldingsMessage::write).toList())
                .toList());
    }

    /** Hands the messages of all other nodes to one, as its listener to the topic does. */
    void hand(Messages messages, HeldElsewhere to) throws IOException {
        for (int sender = 0; sender < size(); sender++) {
            HeldThere there = to.of(nodes.get(sender).id());
            if (there == null) {
                continue; // itself
            }
            for (byte[] message : messages.bySender().get(sender)) {
                if (!there.apply(HoldingsMessage.read(message, samples))) {
                    throw new AssertionError("nothing was lost, but " + there.node() + " would be asked for the whole");
                }
            }
        }
    }

    /** What a node holds in a tier. */
    RoaringBitmap held(int node, int tier) {
        return contents.get(node).tiers.get(tier);
    }

    boolean holds(int node, int sample) {
        return held(node, Contents.tier(sample)).contains(sample);
    }

    /** What a view says of a node's tier. */
    RoaringBitmap seen(HeldElsewhere view, int node, int tier) {
        HeldThere there = view.of(nodes.get(node).id());
        if (there == null) {
            throw new IllegalArgumentException("the view of " + nodes.get(node) + " itself");
        }
        return there.held(tier);
    }
}
