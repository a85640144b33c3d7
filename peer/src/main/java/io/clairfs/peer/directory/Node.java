package io.clairfs.peer.directory;

import com.hazelcast.cluster.Member;
import com.hazelcast.config.MemberAttributeConfig;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * A member of the group as all others see it.
 *
 * @param id of this member since it joined; a new one when it joins again
 * @param name that its operator gave it, unique in the group
 * @param transferAddresses where its samples can be fetched: a rail each, one at least
 * @param about what it says of itself (capacities, parameters of the performance model), in the caller's own form
 * @param self whether it is this node
 */
public record Node(UUID id, String name, List<InetSocketAddress> transferAddresses, byte[] about, boolean self) {
    private static final Logger LOG = System.getLogger(Node.class.getName());
    private static final int MOST_ABOUT_BYTES = 4096;

    /** Characters of a name. */
    public static final int MOST_NAME_LENGTH = 64;

    public static final int MOST_RAILS = 32;
    private static final String RAILS_APART = ",";
    private static final String SIGNED = "clairfs directory member";

    public Node {
        check(name, transferAddresses, about);
        transferAddresses = List.copyOf(transferAddresses);
    }

    private static void check(String name, List<InetSocketAddress> transferAddresses, byte[] about) {
        if (name.isEmpty() || name.length() > MOST_NAME_LENGTH) {
            throw new IllegalArgumentException("a node's name has 1 to " + MOST_NAME_LENGTH + " characters");
        }
        if (about.length > MOST_ABOUT_BYTES) {
            throw new IllegalArgumentException("a node says at most " + MOST_ABOUT_BYTES + " bytes of itself");
        }
        if (transferAddresses.isEmpty() || transferAddresses.size() > MOST_RAILS) {
            throw new IllegalArgumentException("a node has 1 to " + MOST_RAILS + " rails");
        }
    }

    /**
     * What one node says of itself before it joins.
     *
     * @param transferAddresses where its samples can be fetched, a rail each, one at least; all have one port
     */
    public record Introduction(String name, List<InetSocketAddress> transferAddresses, byte[] about) {
        public Introduction {
            check(name, transferAddresses, about); // the others would ignore a node that breaks these bounds
        }

        /** For a node with one rail. */
        public Introduction(String name, InetSocketAddress transferAddress, byte[] about) {
            this(name, List.of(transferAddress), about);
        }

        MemberAttributeConfig attributes(ClusterConfig config) {
            String host = transferAddresses.stream()
                    .map(address -> MemberNames.text(address.getAddress()))
                    .collect(Collectors.joining(RAILS_APART));
            String port = Integer.toString(transferAddresses.getFirst().getPort());
            MemberAttributeConfig attributes = new MemberAttributeConfig();
            attributes.setAttribute("name", name);
            attributes.setAttribute("host", host);
            attributes.setAttribute("port", port);
            attributes.setAttribute("about", Base64.getEncoder().encodeToString(about));
            attributes.setAttribute("proof", HexFormat.of().formatHex(proof(config, name, host, port, about)));
            return attributes;
        }
    }

    /** The node of a member; empty, with a warning, if it does not prove that it knows the secret. */
    static Optional<Node> of(Member member, ClusterConfig config) {
        try {
            String name = attribute(member, "name");
            String host = attribute(member, "host");
            String port = attribute(member, "port");
            byte[] about = Base64.getDecoder().decode(attribute(member, "about"));
            byte[] proof = HexFormat.of().parseHex(attribute(member, "proof"));
            if (MessageDigest.isEqual(proof, proof(config, name, host, port, about))) {
                return Optional.of(
                        new Node(member.getUuid(), name, addresses(host, port), about, member.localMember()));
            }
        } catch (IllegalArgumentException e) {
            LOG.log(
                    Level.WARNING,
                    member.getAddress() + " is in the cluster, but what it says of itself is wrong: ignored: "
                            + e.getMessage());
            return Optional.empty();
        }
        LOG.log(Level.WARNING, member.getAddress() + " is in the cluster without knowing the secret: ignored");
        return Optional.empty();
    }

    private static List<InetSocketAddress> addresses(String hosts, String port) {
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (String host : hosts.split(RAILS_APART, -1)) {
            addresses.add(new InetSocketAddress(host, Integer.parseInt(port)));
        }
        return addresses;
    }

    private static String attribute(Member member, String key) {
        String value = member.getAttribute(key);
        if (value == null) {
            throw new IllegalArgumentException("no attribute " + key);
        }
        return value;
    }

    private static byte[] proof(ClusterConfig config, String name, String host, String port, byte[] about) {
        return config.sign(SIGNED, utf8(name), utf8(host), utf8(port), about);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Node node && id.equals(node.id);
    }

    @Override
    public int hashCode() {
        return id.hashCode();
    }

    @Override
    public String toString() {
        return name + " " + transferAddresses;
    }
}
