package io.clairfs.tools.daemon;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.plan.NodeStorage;
import io.clairfs.cache.plan.StorageClass;
import io.clairfs.cache.prefetch.Group;
import io.clairfs.cache.prefetch.Holdings;
import io.clairfs.cache.prefetch.PeerFetch;
import io.clairfs.cache.prefetch.TierKeeper;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import io.clairfs.peer.directory.ClusterConfig;
import io.clairfs.peer.directory.Directory;
import io.clairfs.peer.directory.DirectoryTimes;
import io.clairfs.peer.directory.Discovery;
import io.clairfs.peer.directory.HeldElsewhere;
import io.clairfs.peer.directory.Job;
import io.clairfs.peer.directory.Node;
import io.clairfs.peer.transfer.Answer;
import io.clairfs.peer.transfer.Credentials;
import io.clairfs.peer.transfer.Peer;
import io.clairfs.peer.transfer.TransferClient;
import io.clairfs.peer.transfer.TransferLimits;
import io.clairfs.peer.transfer.TransferServer;
import io.clairfs.peer.transfer.TransferThreads;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * This node among those that share their caches: what it tells them, what it asks of them, and what it plans together with them.
 *
 * <p>Before {@link #join}, which needs the whole listing, there are no peers, and nothing is planned. A sample is asked of a node that holds it, or else
 * of the node that the plan made its home, which fetches it from the source if it has not done so yet: so each sample
 * that some node is to keep is read from the source once in the whole group.
 */
final class PeerGroup implements PeerFetch, Holdings, AutoCloseable {
    private static final Logger LOG = System.getLogger(PeerGroup.class.getName());
    private static final int TRANSFER_THREADS = 2;
    private static final int MOST_HOLDERS_ASKED = 2;

    /** What a fetch from a peer may take beside its bytes, and how slowly these may come. */
    private static final long ANSWER_WITHIN_MS = 2_000;

    private static final long SLOWEST_BYTES_PER_MS = 5_000;
    private static final int NO_NODE = -1;

    private final GroupConfig config;
    private final DatasetTree tree;
    private final TierKeeper keeper;
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private volatile @Nullable Joined joined;

    /** The nodes as the last plan counts them. */
    private volatile List<Node> planned = List.of();

    private boolean closed;

    /** What there is once this node is in the group. */
    private record Joined(FileNumbers numbers, Directory directory, TransferClient client) {}

    PeerGroup(GroupConfig config, DatasetTree tree, TierKeeper keeper) {
        this.config = config;
        this.tree = tree;
        this.keeper = keeper;
    }

    /**
     * Joins the group or founds it; takes some seconds. The dataset must be listed.
     *
     * @param lender gives out what this node holds
     * @param changed is called when nodes or jobs have come or gone
     * @throws IOException with one line of reason; the mount then goes on alone
     */
    synchronized void join(SampleLender lender, Runnable changed) throws IOException {
        if (closed) {
            return;
        }
        FileNumbers numbers = FileNumbers.of(tree);
        Fingerprint fingerprint = Fingerprint.of(numbers.fingerprint());
        Secret secret = config.secretFile() == null ? null : Secret.read(config.secretFile());
        Credentials credentials = new Credentials(fingerprint, secret);
        TransferThreads threads = TransferThreads.start("transfer", TRANSFER_THREADS);
        parts.push(threads);
        parts.push(lender);
        parts.push(TransferServer.start(
                List.of(config.transferAddress()), credentials, lender.over(numbers), TransferLimits.DEFAULT, threads));
        TransferClient client = new TransferClient(credentials, TransferLimits.DEFAULT, threads);
        parts.push(client);
        ClusterConfig cluster = new ClusterConfig(
                fingerprint, secret, config.bind(), new Discovery.Members(config.members()), DirectoryTimes.DEFAULT);
        Directory directory = Directory.open(
                cluster,
                new Node.Introduction(config.nodeName(), config.transferAddress(), capacities()),
                numbers.count());
        parts.push(directory);
        joined = new Joined(numbers, directory, client);
        keeper.tell(this);
        keeper.tellAll();
        directory.onNodesChange(_ -> changed.run());
        directory.jobs().onChange(_ -> changed.run());
    }

    private byte[] capacities() {
        ByteBuffer bytes = ByteBuffer.allocate(keeper.tiers().size() * Long.BYTES);
        for (Tier tier : keeper.tiers()) {
            bytes.putLong(tier.capacityBytes());
        }
        return bytes.array();
    }

    /** All nodes use the same figures beside the capacities, so that they make the same plan. */
    private static NodeStorage storage(Node node) {
        ByteBuffer capacities = ByteBuffer.wrap(node.about());
        List<StorageClass> classes = new ArrayList<>();
        while (capacities.remaining() >= Long.BYTES) {
            long bytes = capacities.getLong();
            classes.add(classes.isEmpty() ? StorageClass.memory(bytes) : StorageClass.ssd(bytes));
        }
        return new NodeStorage(classes);
    }

    /** The nodes as they are now, in the order of their names. */
    private static List<Node> inOrder(Directory directory) {
        return directory.nodes().stream()
                .sorted(Comparator.comparing(Node::name).thenComparing(Node::id))
                .toList();
    }

    /** Who plans together now; nobody knows where any rank reads before this node has joined. */
    Group group() {
        Joined now = joined;
        if (now == null) {
            return new Group(List.of(NodeStorage.of()), 0, emptyNumbers(), job -> unknown(job));
        }
        List<Node> nodes = inOrder(now.directory);
        planned = nodes;
        int self = NO_NODE;
        for (int i = 0; i < nodes.size(); i++) {
            self = nodes.get(i).self() ? i : self;
        }
        if (self == NO_NODE) {
            return new Group(List.of(NodeStorage.of()), 0, now.numbers, job -> unknown(job));
        }
        Map<String, Job> jobs = now.directory.jobs().all();
        return new Group(
                nodes.stream().map(PeerGroup::storage).toList(),
                self,
                now.numbers,
                job -> nodesOfRanks(job, jobs.get(job.name()), nodes));
    }

    private FileNumbers emptyNumbers() {
        try {
            return FileNumbers.of(tree);
        } catch (SourceException e) {
            throw new AssertionError("jobs start when the dataset is listed", e);
        }
    }

    private static int[] unknown(JobSpec job) {
        int[] nodes = new int[job.world()];
        Arrays.fill(nodes, Group.RankNodes.UNKNOWN);
        return nodes;
    }

    /** A rank that a node has claimed which is gone stays claimed: the others go on planning without it. */
    private static int[] nodesOfRanks(JobSpec spec, @Nullable Job job, List<Node> nodes) {
        int[] nodeOfRank = unknown(spec);
        if (job == null) {
            return nodeOfRank;
        }
        job.ranks().forEach((name, ranks) -> {
            String[] ends = ranks.split("-", 2);
            int first = Integer.parseInt(ends[0]);
            int last = Integer.parseInt(ends[ends.length - 1]);
            int node = indexOf(name, nodes);
            for (int rank = first; rank <= Math.min(last, spec.world() - 1); rank++) {
                if (node >= 0 || nodeOfRank[rank] == Group.RankNodes.UNKNOWN) {
                    nodeOfRank[rank] = node >= 0 ? node : Group.RankNodes.ELSEWHERE;
                }
            }
        });
        return nodeOfRank;
    }

    private static int indexOf(String name, List<Node> nodes) {
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).name().equals(name)) {
                return i;
            }
        }
        return NO_NODE;
    }

    /** Says which ranks of a job read here. */
    void jobStarted(JobSpec spec) {
        Joined now = joined;
        if (now != null) {
            now.directory.jobs().put(spec.name(), spec.line().replaceAll("(^| )ranks=\\S*", ""));
            now.directory.jobs().putRanks(spec.name(), spec.firstRank() + "-" + spec.lastRank());
        }
    }

    @Override
    public void kept(int tier, int file) {
        Joined now = joined;
        if (now != null && now.numbers.numberOf(file) != FileNumbers.NONE) {
            now.directory.heldHere().added(tier, now.numbers.numberOf(file));
        }
    }

    @Override
    public void gone(int tier, int file) {
        Joined now = joined;
        if (now != null && now.numbers.numberOf(file) != FileNumbers.NONE) {
            now.directory.heldHere().removed(tier, now.numbers.numberOf(file));
        }
    }

    @Override
    public boolean mayHave(int file) {
        Joined now = joined;
        if (now == null) {
            return false;
        }
        int number = now.numbers.numberOf(file);
        return number != FileNumbers.NONE
                && (now.directory.heldElsewhere().view().nextHolder(number, 0) >= 0 || home(now, file) != null);
    }

    /** Whether this node is the sample's home. */
    boolean isHomeHere(int file) {
        int home = keeper.homeOf(file);
        List<Node> nodes = planned;
        return home >= 0 && home < nodes.size() && nodes.get(home).self();
    }

    /** The peer that is the sample's home, unless that is this node, or it is being left alone. */
    private @Nullable Peer home(Joined now, int file) {
        int home = keeper.homeOf(file);
        List<Node> nodes = planned;
        if (home < 0 || home >= nodes.size() || nodes.get(home).self()) {
            return null;
        }
        Peer peer = now.client.peer(nodes.get(home).transferAddress());
        return peer.isLeftAlone() ? null : peer;
    }

    @Override
    public @Nullable SampleBuffer fetch(int file) {
        Joined now = joined;
        if (now == null) {
            return null;
        }
        int number = now.numbers.numberOf(file);
        HeldElsewhere.View held = now.directory.heldElsewhere().view();
        int asked = 0;
        for (int holder = held.nextHolder(number, 0);
                holder >= 0 && asked < MOST_HOLDERS_ASKED;
                holder = held.nextHolder(number, holder + 1)) {
            Peer peer = now.client.peer(held.node(holder).transferAddress());
            if (!peer.isLeftAlone()) {
                asked++;
                SampleBuffer sample = ask(peer, number, file);
                if (sample != null) {
                    return sample;
                }
            }
        }
        Peer home = home(now, file);
        return home == null ? null : ask(home, number, file);
    }

    private @Nullable SampleBuffer ask(Peer peer, int number, int file) {
        long bytes = tree.fileSize(file);
        long withinMs = ANSWER_WITHIN_MS + bytes / SLOWEST_BYTES_PER_MS;
        return switch (peer.fetch(number, bytes, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(withinMs))) {
            case Answer.Got(SampleBuffer sample) -> sample;
            case Answer.NotHere _, Answer.Failed _ -> null;
        };
    }

    /** The other nodes, for status. */
    List<Status.Peer> peers() {
        Joined now = joined;
        if (now == null) {
            return List.of();
        }
        HeldElsewhere.View held = now.directory.heldElsewhere().view();
        List<Status.Peer> peers = new ArrayList<>();
        for (int i = 0; i < held.nodes(); i++) {
            Node node = held.node(i);
            int samples = 0;
            for (int tier = 0; tier < io.clairfs.peer.directory.HeldHere.MOST_TIERS; tier++) {
                samples += held.count(i, tier);
            }
            boolean alive = !now.client.peer(node.transferAddress()).isLeftAlone();
            peers.add(new Status.Peer(node.name(), node.transferHost() + ":" + node.transferPort(), alive, samples));
        }
        return peers;
    }

    @Override
    public synchronized void close() {
        closed = true;
        joined = null;
        while (!parts.isEmpty()) {
            AutoCloseable part = parts.pop();
            try {
                part.close();
            } catch (Exception e) {
                LOG.log(Level.WARNING, "while leaving the group", e);
            }
        }
    }
}
