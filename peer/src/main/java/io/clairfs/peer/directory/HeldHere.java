package io.clairfs.peer.directory;

import io.clairfs.peer.directory.HoldingsMessage.At;
import java.util.ArrayList;
import java.util.List;
import org.roaringbitmap.RoaringBitmap;

/**
 * What this node holds, as its tiers report it, for the other nodes. Changes are gathered and published together.
 * Reporting takes a short lock and sends nothing.
 */
public final class HeldHere {
    /** Memory and the disks of a node. */
    public static final int MOST_TIERS = 32;

    private final int samples;
    private final long incarnation;
    private final List<Tier> tiers = new ArrayList<>();

    HeldHere(int samples, long incarnation) {
        this.samples = samples;
        this.incarnation = incarnation;
        for (int tier = 0; tier < MOST_TIERS; tier++) {
            tiers.add(new Tier());
        }
    }

    private static final class Tier {
        private final RoaringBitmap held = new RoaringBitmap();
        private RoaringBitmap added = new RoaringBitmap();
        private RoaringBitmap removed = new RoaringBitmap();
        private long sequence;
    }

    /** The tier has taken the sample in. */
    public void added(int tier, int sample) {
        check(sample);
        Tier at = tiers.get(tier);
        synchronized (at) {
            if (at.held.checkedAdd(sample) && !at.removed.checkedRemove(sample)) {
                at.added.add(sample);
            }
        }
    }

    /** The tier no longer has the sample. */
    public void removed(int tier, int sample) {
        check(sample);
        Tier at = tiers.get(tier);
        synchronized (at) {
            if (at.held.checkedRemove(sample) && !at.added.checkedRemove(sample)) {
                at.removed.add(sample);
            }
        }
    }

    private void check(int sample) {
        if (sample < 0 || sample >= samples) {
            throw new IllegalArgumentException("sample " + sample + " of " + samples);
        }
    }

    /** What changed since the last call; each change is in one delta. */
    List<HoldingsMessage> deltas() {
        List<HoldingsMessage> deltas = new ArrayList<>();
        for (int tier = 0; tier < MOST_TIERS; tier++) {
            Tier at = tiers.get(tier);
            synchronized (at) {
                if (!at.added.isEmpty() || !at.removed.isEmpty()) {
                    at.sequence++;
                    deltas.add(new HoldingsMessage.Delta(new At(tier, incarnation, at.sequence), at.added, at.removed));
                    at.added = new RoaringBitmap();
                    at.removed = new RoaringBitmap();
                }
            }
        }
        return deltas;
    }

    /** The newest states of the tiers that have ever published a sample. */
    List<HoldingsMessage> reminders() {
        List<HoldingsMessage> reminders = new ArrayList<>();
        for (int tier = 0; tier < MOST_TIERS; tier++) {
            Tier at = tiers.get(tier);
            synchronized (at) {
                if (at.sequence > 0) {
                    reminders.add(new HoldingsMessage.Reminder(new At(tier, incarnation, at.sequence)));
                }
            }
        }
        return reminders;
    }

    /** All samples in the states that were published last. */
    List<HoldingsMessage> whole() {
        List<HoldingsMessage> whole = new ArrayList<>();
        for (int tier = 0; tier < MOST_TIERS; tier++) {
            Tier at = tiers.get(tier);
            synchronized (at) {
                if (at.sequence > 0) {
                    RoaringBitmap published = at.held.clone();
                    published.andNot(at.added);
                    published.or(at.removed);
                    published.runOptimize();
                    whole.add(new HoldingsMessage.Whole(new At(tier, incarnation, at.sequence), published));
                }
            }
        }
        return whole;
    }
}
