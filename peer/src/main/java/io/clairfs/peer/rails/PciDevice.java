package io.clairfs.peer.rails;

import java.util.Arrays;
import java.util.List;

/**
 * Where a device is in a machine.
 *
 * @param path the bridges and ports that lead to it and itself, from the root, such as {@code pci0000:15, 0000:15:01.0, 0000:18:00.0}
 * @param numaNode that it belongs to; -1 where the machine does not say
 */
record PciDevice(List<String> path, int numaNode) {
    private static final String UNDER = "/devices/";

    /** The device of this resolved path of {@code /sys}. */
    static PciDevice of(String resolved, int numaNode) {
        int at = resolved.indexOf(UNDER);
        String below = at < 0 ? resolved : resolved.substring(at + UNDER.length());
        return new PciDevice(Arrays.asList(below.split("/")), numaNode);
    }

    /** How many steps from the root both have in common: the more, the nearer they are to each other. */
    int inCommon(PciDevice other) {
        int common = 0;
        while (common < Math.min(path.size(), other.path.size())
                && path.get(common).equals(other.path.get(common))) {
            common++;
        }
        return common;
    }

    /** Whether both are known to be of one NUMA node. */
    boolean isOnNodeOf(PciDevice other) {
        return numaNode >= 0 && numaNode == other.numaNode;
    }

    String text() {
        return String.join("/", path);
    }
}
