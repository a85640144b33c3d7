package io.clairfs.tools.node.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.placement.Group;
import io.clairfs.peer.directory.GroupMembership;
import io.clairfs.peer.directory.Job;
import io.clairfs.peer.directory.Jobs;
import io.clairfs.peer.directory.Node;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The facts from which the nodes of a group plan, the same on all of them: the members, what they tell of themselves ({@link NodeFacts}), and the
 * node of each rank of a job.
 *
 * <p>A node that has left keeps its place in the plan while it is the only one that has claimed a rank of a running job: the others take over its
 * samples, and no other sample moves. When it comes back under its name, the plan is what it was.
 *
 * <p>A job is planned for when nodes have claimed all its ranks. After a while a rank that no node has claimed counts as one that reads without
 * clairfs.
 */
final class GroupPlan {
    /** How long a job waits for ranks that no node has claimed. */
    private static final long RANKS_WITHIN_NS = TimeUnit.SECONDS.toNanos(30);

    private final GroupMembership directory;
    private final FileNumbers numbers;
    private final LongSupplier clockNs;

    /** By job line: when ranks were first seen to be unclaimed, nanoseconds. Guards the other collection, too. */
    private final Map<String, Long> missingSinceNs = new HashMap<>();

    private final Set<String> toldOverdue = new HashSet<>();

    GroupPlan(GroupMembership directory, FileNumbers numbers, LongSupplier clockNs) {
        this.directory = directory;
        this.numbers = numbers;
        this.clockNs = clockNs;
    }

    /** A node in the plan. */
    record Participant(String name, UUID id, NodeFacts facts, boolean isGone) {
        static Participant of(Node node) {
            return new Participant(node.name(), node.id(), NodeFacts.read(node.about()), false);
        }

        /** A node that has left; {@code about} is what it told of itself, as hexadecimal digits. */
        static Participant left(String name, String about) {
            UUID id = UUID.nameUUIDFromBytes(name.getBytes(UTF_8));
            return new Participant(name, id, NodeFacts.readHex(about), true);
        }
    }

    /** The nodes that plan together now. */
    Group group() {
        List<Node> members = directory.nodes();
        Optional<Node> self = members.stream().filter(Node::self).findFirst();
        if (self.isEmpty()) {
            return Group.unknown(numbers); // between two memberships
        }
        Jobs.Known jobs = directory.jobs().now();
        List<Participant> nodes =
                participants(members.stream().map(Participant::of).toList(), jobs);
        List<UUID> ids = nodes.stream().map(Participant::id).toList();
        return new Group(
                ids,
                nodes.stream().map(node -> node.facts().storage()).toList(),
                ids.indexOf(self.get().id()),
                numbers,
                spec -> nodesOfRanks(spec, jobs.running().get(spec.name()), nodes),
                IntStream.range(0, nodes.size())
                        .filter(i -> nodes.get(i).isGone())
                        .boxed()
                        .collect(Collectors.toSet()),
                NodeFacts.combined(nodes.stream().map(Participant::facts).toList()));
    }

    /** The members, and the nodes that have left and are missed, in the order of their names. */
    static List<Participant> participants(List<Participant> members, Jobs.Known jobs) {
        Map<String, Participant> missed = new TreeMap<>();
        for (Job job : jobs.running().values()) {
            Set<Integer> there = new HashSet<>();
            members.forEach(member -> ranks(job, member.name()).forEach(there::add));
            for (String name : job.ranks().keySet()) {
                String about = jobs.about().get(name);
                if (about != null
                        && members.stream().noneMatch(member -> member.name().equals(name))
                        && !ranks(job, name).allMatch(there::contains)) {
                    missed.put(name, Participant.left(name, about));
                }
            }
        }
        return Stream.concat(members.stream(), missed.values().stream())
                .sorted(Comparator.comparing(Participant::name).thenComparing(Participant::id))
                .toList();
    }

    private static IntStream ranks(Job job, String node) {
        Ranks ranks = ranks(job.ranks().getOrDefault(node, Ranks.NONE.text()));
        return IntStream.rangeClosed(ranks.first(), ranks.last());
    }

    private int[] nodesOfRanks(JobSpec spec, @Nullable Job job, List<Participant> nodes) {
        int[] claimed = job == null ? unknown(spec.world()) : claimed(job, spec.world(), nodes);
        if (isOverdue(spec.lineForAll(), claimed)) {
            for (int rank = 0; rank < claimed.length; rank++) {
                claimed[rank] = Math.max(claimed[rank], Group.RankNodes.ELSEWHERE);
            }
        }
        return claimed;
    }

    private static int[] unknown(int world) {
        int[] nodes = new int[world];
        Arrays.fill(nodes, Group.RankNodes.UNKNOWN);
        return nodes;
    }

    /**
     * The node of each rank, as its place among {@code nodes}: a member rather than one that has left. A rank of a node that is not among these
     * stays claimed: the others go on planning without it.
     */
    static int[] claimed(Job job, int world, List<Participant> nodes) {
        int[] nodeOfRank = unknown(world);
        job.ranks().forEach((name, text) -> {
            Ranks ranks = ranks(text);
            int node = indexOf(name, nodes);
            for (int rank = ranks.first(); rank <= Math.min(ranks.last(), world - 1); rank++) {
                int other = nodeOfRank[rank];
                boolean isMember = node >= 0 && !nodes.get(node).isGone();
                boolean otherIsMember = other >= 0 && !nodes.get(other).isGone();
                nodeOfRank[rank] = isMember == otherIsMember ? Math.max(other, node) : isMember ? node : other;
            }
        });
        return nodeOfRank;
    }

    private static Ranks ranks(String text) {
        try {
            return Ranks.parse(text);
        } catch (InvalidSpecException e) {
            return Ranks.NONE; // a node of another version
        }
    }

    /** The node of this name, or {@link Group.RankNodes#ELSEWHERE}. */
    private static int indexOf(String name, List<Participant> nodes) {
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).name().equals(name)) {
                return i;
            }
        }
        return Group.RankNodes.ELSEWHERE;
    }

    private boolean isOverdue(String line, int[] claimed) {
        boolean complete = Arrays.stream(claimed).noneMatch(node -> node == Group.RankNodes.UNKNOWN);
        synchronized (missingSinceNs) {
            if (complete) {
                missingSinceNs.remove(line);
                return false;
            }
            long now = clockNs.getAsLong();
            return now - missingSinceNs.computeIfAbsent(line, _ -> now) >= RANKS_WITHIN_NS;
        }
    }

    /** Whether, since the last call, another job has waited long enough for its ranks to be planned for without them. */
    boolean hasBecomeOverdue() {
        Set<String> running = directory.jobs().now().running().values().stream()
                .map(Job::lines)
                .collect(Collectors.toSet());
        synchronized (missingSinceNs) {
            missingSinceNs.keySet().retainAll(running);
            toldOverdue.retainAll(missingSinceNs.keySet());
            long now = clockNs.getAsLong();
            boolean any = false;
            for (Map.Entry<String, Long> job : missingSinceNs.entrySet()) {
                any |= now - job.getValue() >= RANKS_WITHIN_NS && toldOverdue.add(job.getKey());
            }
            return any;
        }
    }
}
