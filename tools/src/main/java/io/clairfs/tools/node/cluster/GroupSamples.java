package io.clairfs.tools.node.cluster;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.placement.Admission;
import io.clairfs.peer.directory.GroupMembership;
import io.clairfs.peer.directory.HeldElsewhere;
import io.clairfs.peer.directory.Node;
import io.clairfs.peer.directory.SpareThreads;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.TransferClient;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Which nodes of the group have a sample, from one join of this node on: what it holds itself, what the others hold, and which of them may be
 * asked.
 *
 * <p>A local copy says what the others hold, so nothing here sends a request or waits. Thread-safe, without a lock of its own.
 */
final class GroupSamples {
    private final FileNumbers numbers;
    private final GroupMembership directory;
    private final TransferClient client;
    private final DatasetTree tree;
    private final Admission admission;
    private final PeerPlaces places;

    GroupSamples(
            FileNumbers numbers,
            GroupMembership directory,
            TransferClient client,
            DatasetTree tree,
            Admission admission,
            PeerPlaces places) {
        this.numbers = numbers;
        this.directory = directory;
        this.client = client;
        this.tree = tree;
        this.admission = admission;
        this.places = places;
    }

    /** As {@link PeerGroup#kept}. */
    void kept(int tier, int file) {
        if (numbers.numberOf(file) != FileNumbers.NONE) {
            directory.heldHere().added(tier, numbers.numberOf(file));
        }
    }

    /** As {@link PeerGroup#gone}. */
    void gone(int tier, int file) {
        if (numbers.numberOf(file) != FileNumbers.NONE) {
            directory.heldHere().removed(tier, numbers.numberOf(file));
        }
    }

    /** As {@link PeerGroup#isElsewhere}. */
    boolean isElsewhere(int file) {
        int number = numbers.numberOf(file);
        if (number == FileNumbers.NONE) {
            return true;
        }
        HeldElsewhere.View others = directory.heldElsewhere().view();
        return others.nodes() == 0 || others.nextHolder(number, 0) >= 0;
    }

    /** As {@link PeerGroup#mayHave}. */
    boolean mayHave(int file) {
        int number = numbers.numberOf(file);
        return number != FileNumbers.NONE
                && (directory.heldElsewhere().view().nextHolder(number, 0) >= 0 || homePeer(file) != null);
    }

    /** Whether this node is the sample's home. */
    boolean isHomeHere(int file) {
        Node home = home(file);
        return home != null && home.self();
    }

    /** The sample's home if it is still there. */
    private @Nullable Node home(int file) {
        UUID home = admission.homeOf(file);
        return home == null ? null : directory.node(home);
    }

    /** The peer that is the sample's home; null if that is this node, or if it is left alone or gone. */
    private @Nullable Peer homePeer(int file) {
        Node home = home(file);
        if (home == null || home.self()) {
            return null;
        }
        Peer peer = client.peer(home.transferAddresses());
        return peer == null || peer.isLeftAlone() ? null : peer;
    }

    /** As {@link PeerGroup#holders}. */
    List<PeerFetch.Holder> holders(int file) {
        int number = numbers.numberOf(file);
        if (number == FileNumbers.NONE) {
            return List.of();
        }
        List<PeerFetch.Holder> found = new ArrayList<>();
        HeldElsewhere.View held = directory.heldElsewhere().view();
        Peer home = homePeer(file);
        for (int holder = held.nextHolder(number, 0); holder >= 0; holder = held.nextHolder(number, holder + 1)) {
            Peer peer = client.peer(held.node(holder).transferAddresses());
            if (peer != null && !peer.isLeftAlone()) {
                found.add(new AskedPeer(peer, places.of(peer), true, number, tree.keptSize(file)));
            }
            home = peer == home ? null : home;
        }
        if (!found.isEmpty()) {
            Collections.rotate(found, number % found.size()); // of holders as quick as each other the first is asked
        }
        if (home != null) {
            found.add(new AskedPeer(home, places.of(home), false, number, tree.keptSize(file)));
        }
        return found;
    }

    /** As {@link PeerGroup#whereabouts}, on the node of this name. */
    SampleInGroup whereabouts(String self, int file) {
        int number = numbers.numberOf(file);
        Node home = home(file);
        List<SampleInGroup.Holder> found = new ArrayList<>();
        HeldElsewhere.View held = directory.heldElsewhere().view();
        int holder = number == FileNumbers.NONE ? -1 : held.nextHolder(number, 0);
        while (holder >= 0) {
            int tier = held.tier(number, holder);
            if (tier >= 0) { // else it has just let the sample go
                found.add(new SampleInGroup.Holder(held.node(holder).name(), tier == 0 ? "memory" : "ssd"));
            }
            holder = held.nextHolder(number, holder + 1);
        }
        return new SampleInGroup(self, true, found, home == null ? null : home.name());
    }

    /** As {@link PeerGroup#makers}. */
    List<PeerFetch.Maker> makers(int file) {
        int number = numbers.numberOf(file);
        if (number == FileNumbers.NONE) {
            return List.of();
        }
        List<PeerFetch.Maker> found = new ArrayList<>();
        HeldElsewhere.View others = directory.heldElsewhere().view();
        for (int node = 0; node < others.nodes(); node++) {
            SpareThreads spare = others.spare(node);
            if (spare.threads() > 0) {
                Peer peer = client.peer(others.node(node).transferAddresses());
                if (peer != null && !peer.isLeftAlone()) {
                    found.add(new AskedMaker(peer, places.of(peer), spare, number, tree.fileSize(file)));
                }
            }
        }
        return found;
    }
}
