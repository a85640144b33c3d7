package io.clairfs.tools.node.cluster;

import io.clairfs.peer.directory.GroupMembership;
import io.clairfs.peer.directory.Node;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.TransferClient;
import java.util.List;
import java.util.stream.Collectors;

/** Keeps the peers of the transfers those nodes that are in the group. */
final class GroupPeers {
    private static final int MOST_CONNECTED_EARLY = 32;

    private GroupPeers() {}

    /** Uses the members of this moment, which may differ from those of the change that it is called for. */
    static void follow(GroupMembership directory, TransferClient client) {
        List<Node> nodes = directory.nodes();
        client.keepOnly(nodes.stream().map(Node::transferAddresses).collect(Collectors.toSet()));
        if (nodes.size() <= MOST_CONNECTED_EARLY) {
            connectEarly(nodes, client);
        }
    }

    /** Connects to the other nodes of a small group before they are needed. */
    private static void connectEarly(List<Node> nodes, TransferClient client) {
        for (Node node : nodes) {
            Peer peer = node.self() ? null : client.peer(node.transferAddresses());
            if (peer != null) {
                peer.connectEarly();
            }
        }
    }
}
