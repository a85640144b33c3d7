package io.clairfs.peer.rails;

/**
 * One accelerator.
 *
 * @param address on the PCI bus, such as {@code 0000:18:00.0}
 */
public record Accelerator(String address, PciDevice device) {
    /** The NUMA node that it belongs to; -1 where the machine does not say. */
    public int numaNode() {
        return device.numaNode();
    }
}
