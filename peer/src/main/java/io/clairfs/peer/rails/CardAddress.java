package io.clairfs.peer.rails;

import java.math.BigInteger;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * An address of a network card.
 *
 * @param prefixBits how many of its first bits are those of its subnet
 */
public record CardAddress(InetAddress address, int prefixBits) {
    /** Whether both are in one subnet, so that the kernel, unless told otherwise, sends from either by one card. */
    public boolean isInSubnetOf(CardAddress other) {
        return address.getAddress().length == other.address.getAddress().length
                && prefixBits == other.prefixBits
                && subnet().equals(other.subnet());
    }

    private BigInteger subnet() {
        byte[] bytes = address.getAddress();
        return new BigInteger(1, bytes).shiftRight(Math.max(0, Byte.SIZE * bytes.length - prefixBits));
    }

    /** The pairs of these addresses that are in one subnet, as text. */
    public static List<String> pairsInOneSubnet(List<CardAddress> addresses) {
        List<String> pairs = new ArrayList<>();
        for (int i = 0; i < addresses.size(); i++) {
            for (CardAddress other : addresses.subList(i + 1, addresses.size())) {
                if (addresses.get(i).isInSubnetOf(other)) {
                    pairs.add(addresses.get(i).text() + " and " + other.text());
                }
            }
        }
        return pairs;
    }

    private String text() {
        return address.getHostAddress();
    }
}
