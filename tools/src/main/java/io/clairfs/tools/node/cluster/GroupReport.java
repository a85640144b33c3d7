package io.clairfs.tools.node.cluster;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.placement.Group;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.peer.directory.GroupMembership;
import io.clairfs.peer.directory.HeldElsewhere;
import io.clairfs.peer.directory.Job;
import io.clairfs.peer.directory.Node;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.RailFigures;
import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.tools.node.status.Status;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The group's part of {@code status}, from what this node knows. It sends no request. */
final class GroupReport {
    /** A node that is silent for this long is shown as not answering. */
    private static final long SILENT_MS = 6_000;

    private static final double MILLIS_PER_SECOND = 1e3;

    /** A line of status names so many members. */
    private static final int MOST_NAMED = 3;

    private GroupReport() {}

    /** The other nodes: those in the group, then those that are gone and still have ranks. */
    static List<Status.Peer> peers(GroupMembership directory, TransferClient client) {
        HeldElsewhere.View held = directory.heldElsewhere().view();
        List<Status.Peer> peers = new ArrayList<>();
        for (int i = 0; i < held.nodes(); i++) {
            Node node = held.node(i);
            String trouble = trouble(directory, node, client.peer(node.transferAddresses()));
            int spare = held.spare(i).threads();
            peers.add(new Status.Peer(
                    node.name(),
                    text(node.transferAddresses().getFirst()),
                    trouble == null,
                    held.count(i),
                    spare,
                    rails(client.peer(node.transferAddresses())),
                    trouble));
        }
        for (String gone : gone(directory)) {
            peers.add(new Status.Peer(
                    gone, "", false, 0, 0, List.of(), "not in the group any more; its ranks read elsewhere"));
        }
        return peers;
    }

    private static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    private static List<Status.Rail> rails(@Nullable Peer peer) {
        List<RailFigures> rails = peer == null ? List.of() : peer.figures().rails();
        return rails.size() < 2
                ? List.of()
                : rails.stream()
                        .map(rail -> new Status.Rail(
                                text(rail.address()),
                                rail.connected(),
                                rail.leftAlone(),
                                rail.bytesPerSecond(),
                                rail.gotBytes()))
                        .toList();
    }

    private static @Nullable String trouble(GroupMembership directory, Node node, @Nullable Peer peer) {
        long silentMs = directory.silentMs(node);
        if (silentMs >= SILENT_MS) {
            return "silent for " + Math.round(silentMs / MILLIS_PER_SECOND) + " s";
        }
        return peer == null ? "not connected: this node is at its limit of connections to peers" : peer.trouble();
    }

    /** The nodes that have claimed ranks of running jobs and have left the group. */
    private static Set<String> gone(GroupMembership directory) {
        Set<String> gone = new TreeSet<>();
        directory
                .jobs()
                .now()
                .running()
                .values()
                .forEach(job -> gone.addAll(job.ranks().keySet()));
        directory.nodes().forEach(node -> gone.remove(node.name()));
        return gone;
    }

    /** This node in its group; {@code directory} is null before it has joined. */
    static Status.Group of(String self, @Nullable GroupMembership directory, @Nullable String trouble, LocalPlan plan) {
        String made = plan.isPending() ? "waiting" : plan.digest() == 0 ? "none" : "made";
        String digest = plan.digest() == 0 ? null : HexFormat.of().toHexDigits(plan.digest(), 8);
        if (directory == null) {
            return new Status.Group(self, false, trouble, List.of(), made, digest, List.of());
        }
        List<Node> nodes = directory.nodes();
        List<String> names = nodes.stream().map(Node::name).toList();
        String now = names.stream().distinct().count() == names.size()
                ? withoutAddress(directory.membersWithoutAddress())
                : "two nodes have the same name: give each its own with --node-name";
        List<Status.GroupJob> jobs = directory.jobs().now().running().values().stream()
                .map(job -> job(job, nodes))
                .toList();
        return new Status.Group(self, true, now, names, made, digest, jobs);
    }

    private static @Nullable String withoutAddress(List<String> members) {
        if (members.isEmpty()) {
            return null;
        }
        int more = members.size() - MOST_NAMED;
        return "no address is known yet for "
                + members.stream().limit(MOST_NAMED).collect(Collectors.joining(", "))
                + (more > 0 ? " and " + more + " more members" : "") + ": looked up again and again";
    }

    private static Status.GroupJob job(Job job, List<Node> nodes) {
        int world;
        try {
            world = JobSpec.worldOf(job.lines());
        } catch (InvalidSpecException e) {
            return new Status.GroupJob(job.name(), job.ranks(), "", "");
        }
        int[] claimed = GroupPlan.claimed(
                job, world, nodes.stream().map(GroupPlan.Participant::of).toList());
        return new Status.GroupJob(
                job.name(),
                job.ranks(),
                ranksAt(claimed, Group.RankNodes.UNKNOWN),
                ranksAt(claimed, Group.RankNodes.ELSEWHERE));
    }

    /** The ranks with this value, such as {@code 0-3,7}. */
    private static String ranksAt(int[] nodeOfRank, int node) {
        List<Ranks> found = new ArrayList<>();
        for (int rank = 0; rank < nodeOfRank.length; rank++) {
            if (nodeOfRank[rank] != node) {
                continue;
            }
            if (!found.isEmpty() && found.getLast().last() == rank - 1) {
                found.set(found.size() - 1, new Ranks(found.getLast().first(), rank));
            } else {
                found.add(new Ranks(rank, rank));
            }
        }
        return found.stream().map(Ranks::text).collect(Collectors.joining(","));
    }
}
