package io.clairfs.peer.directory;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.roaringbitmap.IntIterator;
import org.roaringbitmap.RoaringBitmap;

/** A message between nodes about what they hold. */
sealed interface HoldingsMessage {
    int HEAD_BYTES = 1 + 1 + 8 + 8;

    /** Identifies a state of a node's tier. */
    record At(int tier, long incarnation, long sequence) {}

    /** What changed between the state before and this one. */
    record Delta(At at, RoaringBitmap added, RoaringBitmap removed) implements HoldingsMessage {}

    /** All that is held in this state. */
    record Whole(At at, RoaringBitmap held) implements HoldingsMessage {}

    /** This state is the newest; a node that knows another asks. */
    record Reminder(At at) implements HoldingsMessage {}

    /** A request for the whole of all tiers. */
    record Ask() implements HoldingsMessage {}

    /** A heartbeat, with what the node can make for others. Earlier versions send and read it without. */
    record Here(SpareThreads spare) implements HoldingsMessage {}

    /** Encodes a message. */
    static byte[] write(HoldingsMessage message) {
        return switch (message) {
            case Delta(At at, RoaringBitmap added, RoaringBitmap removed) -> bytes(0, at, added, removed);
            case Whole(At at, RoaringBitmap held) -> bytes(1, at, held);
            case Reminder(At at) -> bytes(2, at);
            case Ask() -> bytes(3, new At(0, 0, 0));
            case Here(SpareThreads spare) -> here(spare);
        };
    }

    private static byte[] here(SpareThreads spare) {
        byte[] head = bytes(4, new At(0, 0, 0));
        return ByteBuffer.allocate(head.length + 2 * Short.BYTES)
                .put(head)
                .putShort((short) spare.threads())
                .putShort((short) spare.busy())
                .array();
    }

    private static SpareThreads spare(ByteBuffer in) {
        return in.remaining() < 2 * Short.BYTES
                ? SpareThreads.NONE
                : new SpareThreads(Short.toUnsignedInt(in.getShort()), Short.toUnsignedInt(in.getShort()));
    }

    private static byte[] bytes(int type, At at, RoaringBitmap... sets) {
        int size = HEAD_BYTES;
        for (RoaringBitmap set : sets) {
            size += set.serializedSizeInBytes();
        }
        ByteBuffer out = ByteBuffer.allocate(size);
        out.put((byte) type).put((byte) at.tier()).putLong(at.incarnation()).putLong(at.sequence());
        for (RoaringBitmap set : sets) {
            ByteBuffer here = out.slice();
            set.serialize(here);
            out.position(out.position() + set.serializedSizeInBytes());
        }
        return out.array();
    }

    /**
     * Decodes a message.
     *
     * @param samples in the dataset; every number in a set must be less
     * @throws IOException if this is no message
     */
    static HoldingsMessage read(byte[] bytes, int samples) throws IOException {
        try {
            ByteBuffer in = ByteBuffer.wrap(bytes);
            int type = in.get();
            At at = new At(in.get(), in.getLong(), in.getLong());
            if (at.tier() < 0 || at.tier() >= HeldHere.MOST_TIERS) {
                throw new IOException("holdings of tier " + at.tier());
            }
            return switch (type) {
                case 0 -> new Delta(at, set(in, samples), set(in, samples));
                case 1 -> new Whole(at, set(in, samples));
                case 2 -> new Reminder(at);
                case 3 -> new Ask();
                case 4 -> new Here(spare(in));
                default -> throw new IOException("holdings of kind " + type);
            };
        } catch (RuntimeException e) {
            throw new IOException("damaged holdings", e);
        }
    }

    private static RoaringBitmap set(ByteBuffer in, int samples) throws IOException {
        RoaringBitmap set = new RoaringBitmap();
        set.deserialize(in.slice());
        in.position(in.position() + set.serializedSizeInBytes());
        if (set.getLongCardinality() > samples) { // before it is walked: few bytes may stand for very many
            throw new IOException("holdings of more samples than the dataset has");
        }
        if (!isInOrder(set, samples)) {
            throw new IOException("damaged holdings");
        }
        if (!set.isEmpty() && Integer.compareUnsigned(set.last(), samples) >= 0) {
            throw new IOException("holdings beyond the dataset");
        }
        return set;
    }

    /** Deserializing checks nothing. A set whose numbers do not ascend, or whose count is wrong, is damaged. Looks at {@code most} at most. */
    private static boolean isInOrder(RoaringBitmap set, int most) {
        long before = -1;
        long count = 0;
        for (IntIterator numbers = set.getIntIterator(); numbers.hasNext(); count++) {
            long number = Integer.toUnsignedLong(numbers.next());
            if (number <= before || count >= most) {
                return false;
            }
            before = number;
        }
        return count == set.getLongCardinality();
    }
}
