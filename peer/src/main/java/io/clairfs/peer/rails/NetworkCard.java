package io.clairfs.peer.rails;

/**
 * One network card.
 *
 * @param name as the kernel calls it, such as {@code eth0}
 * @param isUp whether it has a link
 * @param bitsPerSecond of the link; 0 if the card does not say
 */
public record NetworkCard(String name, PciDevice device, boolean isUp, long bitsPerSecond) {
    /** The NUMA node that it belongs to; -1 where the machine does not say. */
    public int numaNode() {
        return device.numaNode();
    }
}
