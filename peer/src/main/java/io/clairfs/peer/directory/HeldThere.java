package io.clairfs.peer.directory;

import io.clairfs.peer.directory.HoldingsMessage.At;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.roaringbitmap.RoaringBitmap;

/**
 * What one other node holds, as far as it is known here. A set never changes once it is visible: a delta makes a new one, a few
 * times a second at most. So readers need no lock.
 */
final class HeldThere {
    private final Node node;
    private final AtomicReferenceArray<RoaringBitmap> tiers = new AtomicReferenceArray<>(HeldHere.MOST_TIERS);
    private final At[] states = new At[HeldHere.MOST_TIERS];

    /** One more than the last tier that was ever reported: a node has two, fewer than there may be. */
    private volatile int told;

    HeldThere(Node node) {
        this.node = node;
        for (int tier = 0; tier < HeldHere.MOST_TIERS; tier++) {
            tiers.set(tier, new RoaringBitmap());
            states[tier] = new At(tier, 0, 0);
        }
    }

    Node node() {
        return node;
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

    RoaringBitmap held(int tier) {
        return tiers.get(tier);
    }

    private void set(int tier, RoaringBitmap held) {
        tiers.set(tier, held);
        told = Math.max(told, tier + 1);
    }

    /** Applies a message. Returns false if an earlier one is missing, so that the whole is needed. */
    synchronized boolean apply(HoldingsMessage message) {
        return switch (message) {
            case HoldingsMessage.Whole(At at, RoaringBitmap held) -> {
                At known = states[at.tier()];
                if (known.incarnation() != at.incarnation() || known.sequence() < at.sequence()) {
                    set(at.tier(), held);
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
                    set(at.tier(), next);
                    states[at.tier()] = at;
                }
                yield true;
            }
            case HoldingsMessage.Reminder(At at) -> {
                At known = states[at.tier()];
                yield known.incarnation() == at.incarnation() && known.sequence() >= at.sequence();
            }
            case HoldingsMessage.Ask(), HoldingsMessage.Here() -> true;
        };
    }
}
