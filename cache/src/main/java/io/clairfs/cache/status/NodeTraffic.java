package io.clairfs.cache.status;

/**
 * What a node read and fetched since the mount, at one moment; the difference of two moments is what it did between them.
 *
 * @param opened files that readers closed
 * @param asked those of them for which the daemon had a request; the rest came from the page cache
 */
public record NodeTraffic(long opened, long asked, Amount memory, Amount ssd, Amount peer, Amount source) {
    /** Nothing. */
    public static final NodeTraffic NONE = new NodeTraffic(0, 0, Amount.NONE, Amount.NONE, Amount.NONE, Amount.NONE);

    /** Samples that came from one place, and their bytes. */
    public record Amount(long count, long bytes) {
        static final Amount NONE = new Amount(0, 0);

        static Amount of(Traffic traffic) {
            return new Amount(traffic.count(), traffic.bytes());
        }

        Amount since(Amount before) {
            return new Amount(count - before.count, bytes - before.bytes);
        }
    }

    /** What was counted until now. */
    public static NodeTraffic of(Counters counters) {
        return new NodeTraffic(
                counters.opened.sum(),
                counters.openedWithUpcall.sum(),
                Amount.of(counters.fromMemory),
                Amount.of(counters.fromSsd),
                Amount.of(counters.fromPeer),
                Amount.of(counters.fromSource));
    }

    /** What came after {@code before}. */
    public NodeTraffic since(NodeTraffic before) {
        return new NodeTraffic(
                opened - before.opened,
                asked - before.asked,
                memory.since(before.memory),
                ssd.since(before.ssd),
                peer.since(before.peer),
                source.since(before.source));
    }
}
