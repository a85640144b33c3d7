package io.clairfs.peer.directory;

import io.clairfs.peer.directory.HoldingsMessage.At;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.roaringbitmap.RoaringBitmap;

/**
 * What one other node holds, as far as it is known here. A set never changes once it is visible: a delta makes a new one, a few
 * times a second at most. So readers need no lock. A node with a slot also keeps the index of holders up to date.
 */
final class HeldThere {
    private final Node node;
    private final AtomicReferenceArray<RoaringBitmap> tiers = new AtomicReferenceArray<>(HeldHere.MOST_TIERS);
    private final At[] states = new At[HeldHere.MOST_TIERS];

    /** One more than the last tier that was ever reported: a node has two, fewer than there may be. */
    private volatile int told;

    private volatile Announced announced = new Announced(SpareThreads.NONE, 0);

    /** Null for a node that is in no index, as one that has left: its slot may then be another's. */
    private @Nullable HolderIndex index;

    /** Its number in the index; -1 for a node that is in none. */
    private int slot = -1;

    HeldThere(Node node) {
        this.node = node;
        for (int tier = 0; tier < HeldHere.MOST_TIERS; tier++) {
            tiers.set(tier, new RoaringBitmap());
            states[tier] = new At(tier, 0, 0);
        }
    }

    private record Announced(SpareThreads spare, long atNs) {}

    /** What it has announced, unless it has been silent for so long. */
    SpareThreads spare(long silentNs) {
        Announced last = announced;
        return System.nanoTime() - last.atNs > silentNs ? SpareThreads.NONE : last.spare;
    }

    Node node() {
        return node;
    }

    synchronized int slot() {
        return slot;
    }

    boolean holds(int sample) {
        for (int tier = 0; tier < told; tier++) {
            if (tiers.get(tier).contains(sample)) {
                return true;
            }
        }
        return false;
    }

    int tier(int sample) {
        for (int tier = 0; tier < told; tier++) {
            if (tiers.get(tier).contains(sample)) {
                return tier;
            }
        }
        return -1;
    }

    /** How many samples it holds, each once, in however many tiers it is. */
    int count() {
        if (told <= 1) {
            return tiers.get(0).getCardinality();
        }
        if (told == 2) {
            return RoaringBitmap.orCardinality(tiers.get(0), tiers.get(1));
        }
        RoaringBitmap all = tiers.get(0).clone();
        for (int tier = 1; tier < told; tier++) {
            all.or(tiers.get(tier));
        }
        return all.getCardinality();
    }

    RoaringBitmap held(int tier) {
        return tiers.get(tier);
    }

    private void set(int tier, RoaringBitmap held, RoaringBitmap added, RoaringBitmap removed) {
        tiers.set(tier, held);
        told = Math.max(told, tier + 1);
        HolderIndex kept = index;
        if (kept != null) {
            int at = slot;
            added.forEach((int sample) -> kept.add(sample, at));
            RoaringBitmap gone = removed.clone();
            for (int other = 0; other < told; other++) {
                if (other != tier) {
                    gone.andNot(tiers.get(other));
                }
            }
            gone.forEach((int sample) -> kept.remove(sample, at));
        }
    }

    /** From now on the index says what this node holds, too. */
    synchronized void enter(HolderIndex index, int slot) {
        this.index = index;
        this.slot = slot;
        for (int tier = 0; tier < told; tier++) {
            tiers.get(tier).forEach((int sample) -> index.add(sample, slot));
        }
    }

    /** Takes the node out of the index. Messages that are still on their way change the index no more. */
    synchronized void leave() {
        HolderIndex left = index;
        int at = slot;
        index = null;
        slot = -1;
        if (left != null) {
            for (int tier = 0; tier < told; tier++) {
                tiers.get(tier).forEach((int sample) -> left.remove(sample, at));
            }
        }
    }

    /** Applies a message. Returns false if an earlier one is missing, so that the whole is needed. */
    synchronized boolean apply(HoldingsMessage message) {
        return switch (message) {
            case HoldingsMessage.Whole(At at, RoaringBitmap held) -> {
                At known = states[at.tier()];
                if (known.incarnation() != at.incarnation() || known.sequence() < at.sequence()) {
                    RoaringBitmap before = tiers.get(at.tier());
                    set(at.tier(), held, RoaringBitmap.andNot(held, before), RoaringBitmap.andNot(before, held));
                    states[at.tier()] = at;
                }
                yield true;
            }
            case HoldingsMessage.Delta(At at, RoaringBitmap added, RoaringBitmap removed) -> {
                At known = states[at.tier()];
                boolean first = known.sequence() == 0 && at.sequence() == 1;
                if (!first && known.incarnation() != at.incarnation()) {
                    yield false;
                }
                if (at.sequence() > known.sequence() + 1) {
                    yield false;
                }
                if (at.sequence() == known.sequence() + 1) {
                    RoaringBitmap next = tiers.get(at.tier()).clone();
                    next.or(added);
                    next.andNot(removed);
                    set(at.tier(), next, added, removed);
                    states[at.tier()] = at;
                }
                yield true;
            }
            case HoldingsMessage.Reminder(At at) -> {
                At known = states[at.tier()];
                yield known.incarnation() == at.incarnation() && known.sequence() >= at.sequence();
            }
            case HoldingsMessage.Here(SpareThreads spare) -> {
                announced = new Announced(spare, System.nanoTime());
                yield true;
            }
            case HoldingsMessage.Ask() -> true;
        };
    }
}
