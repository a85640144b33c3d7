package io.clairfs.tools.node.cluster;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.Group;
import io.clairfs.cache.placement.ResidencyListener;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import io.clairfs.peer.directory.ClusterConfig;
import io.clairfs.peer.directory.DirectoryTimes;
import io.clairfs.peer.directory.GroupMembership;
import io.clairfs.peer.directory.JobStates;
import io.clairfs.peer.directory.Node;
import io.clairfs.peer.rails.Rails;
import io.clairfs.peer.transfer.Credentials;
import io.clairfs.peer.transfer.TransferLimits;
import io.clairfs.peer.transfer.TransferThreads;
import io.clairfs.peer.transfer.TransferTls;
import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.peer.transfer.server.TransferServer;
import io.clairfs.tools.OpenParts;
import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.node.config.GroupConfig;
import io.clairfs.tools.node.status.Status;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * This node in the group that shares its caches: what it tells the other nodes, what it requests from them, and what it plans together with
 * them.
 *
 * <p>Before {@link #join}, which needs the whole listing, there are no peers, and nothing is planned. A sample is requested from a node that
 * holds it, or else from its home, which fetches it from the source if it has not done so yet. So each sample that some node keeps is read from
 * the source once in the whole group.
 *
 * <p>Life cycle: the daemon makes it, joins it when the listing is complete, again if that failed or {@link #awaitLoss} says so, and closes it. {@link
 * #close} closes the parts of {@link #join} in the reverse order.
 *
 * <p>Locks: its lock is held while it joins, leaves and closes; those of planning and {@link GroupJobs} are taken inside. Fetches, reports of residents
 * and status read one volatile field and take no lock. The lock on the dataset's tree guards the numbers of the files and comes last.
 */
public final class PeerGroup implements PeerFetch, ResidencyListener, AutoCloseable {
    private static final Logger LOG = System.getLogger(PeerGroup.class.getName());
    private static final int TRANSFER_THREADS = 2;

    /** The bound of a fetch from peers: this time plus that of its bytes at the slowest rate. */
    private static final long ANSWER_WITHIN_MS = 2_000;

    private static final long SLOWEST_BYTES_PER_MS = 5_000;

    /** How long {@link #close} waits for a join that is under way, which closes what it has made by itself. */
    private static final long LONGEST_CLOSE_MS = 2_000;

    /** Between two looks whether this node is still in the group. */
    private static final long LOOK_EVERY_MS = 1_000;

    private final ModelFile model;
    private final long mostMs;
    private final DatasetTree tree;
    private final Admission admission;
    private final ErrorLog errors;
    private final GroupJobs jobs;

    /** It outlives a membership that has ended by itself: a job that was stopped or changed in it is not taken back. */
    private final JobStates states = new JobStates();

    private final TransferLimits limits;
    private final OpenParts parts = new OpenParts("the group");
    private final PeerPlaces places = new PeerPlaces();
    private volatile GroupConfig config;
    private volatile @Nullable Joined joined;

    /** Why this node has not joined, or is not in the group any more; null while it may still join. */
    private volatile @Nullable String trouble;

    private final CountDownLatch closed = new CountDownLatch(1);

    /** Whether this node joins or leaves. {@link #join} may take half a minute and holds the lock. */
    private volatile boolean changing;

    private @Nullable FileNumbers numbers;

    /** The parts that exist once this node has joined. */
    private record Joined(GroupMembership directory, TransferClient client, GroupPlan plan, GroupSamples samples) {}

    /**
     * A group.
     *
     * @param model what was measured of this node
     * @param fromPeersBytes the bound of the bytes in flight from all peers
     * @param mostMs how long a fetch from peers may take, however large the sample, milliseconds
     */
    public PeerGroup(
            GroupConfig config,
            ModelFile model,
            DatasetTree tree,
            Admission admission,
            ErrorLog errors,
            long fromPeersBytes,
            long mostMs) {
        this.mostMs = mostMs;
        limits = TransferLimits.DEFAULT.withAllPeers(fromPeersBytes);
        this.errors = errors;
        jobs = new GroupJobs(config.nodeName(), errors);
        this.config = config;
        this.model = model;
        this.tree = tree;
        this.admission = admission;
    }

    /**
     * Joins the group or founds it; takes some seconds. The dataset must be listed.
     *
     * @param server serves what this node holds
     * @param follower follows the group's jobs on this node
     * @param changed is called when nodes or jobs have come or gone
     * @throws IOException with one line of reason; the mount then goes on alone, and this may be called again
     */
    public void join(SampleServer server, GroupJobs.Follower follower, Runnable changed) throws IOException {
        changing = true;
        try {
            joinOnce(server, follower, changed);
        } catch (IOException
                | RuntimeException
                | Error e) { // memory may be short: the next try finds nothing of this one
            joined = null;
            parts.close(); // the ports are free for the next try
            boolean isNews = trouble == null;
            trouble = String.valueOf(e.getMessage());
            jobs.joinFailed();
            if (isNews) { // else the plan is one for this node alone already
                changed.run();
            }
            throw e;
        } finally {
            changing = false;
        }
    }

    private synchronized void joinOnce(SampleServer server, GroupJobs.Follower follower, Runnable changed)
            throws IOException {
        if (isClosed()) {
            return;
        }
        GroupConfig config = this.config.atAnAddress();
        this.config = config;
        jobs.named(config.nodeName());
        FileNumbers numbers = numbers();
        Fingerprint fingerprint = Fingerprint.of(numbers.fingerprint());
        Secret secret = config.secretFile() == null ? null : Secret.read(config.secretFile());
        GroupConfig.Tls files = config.tls();
        TransferTls tls = files == null ? null : TransferTls.read(files.certificate(), files.key(), files.authority());
        Credentials credentials = new Credentials(fingerprint, secret, tls);
        TransferThreads threads = TransferThreads.start(
                "transfer", Math.max(TRANSFER_THREADS, config.rails().size()));
        parts.add(threads);
        keepNearTheirCards(threads);
        parts.add(server);
        parts.add(TransferServer.start(config.transferAddresses(), credentials, server.over(numbers), limits, threads));
        TransferClient client = new TransferClient(credentials, limits, threads, config.rails());
        parts.add(client);
        ClusterConfig cluster =
                new ClusterConfig(fingerprint, secret, config.bind(), config.discovery(), DirectoryTimes.DEFAULT);
        GroupMembership directory = GroupMembership.open(
                cluster,
                new Node.Introduction(config.nodeName(), config.transferAddresses(), facts().bytes()),
                numbers.count(),
                states);
        parts.add(directory);
        if (isClosed()) {
            return; // who closes this waits for the lock, and closes the parts
        }
        trouble = null;
        directory.announce(server::spare);
        GroupPlan plan = new GroupPlan(directory, numbers, System::nanoTime);
        GroupSamples samples = new GroupSamples(numbers, directory, client, tree, admission, places);
        joined = new Joined(directory, client, plan, samples);
        admission.residents().tell(this);
        admission.residents().tellAll();
        directory.onNodesChange(_ -> {
            GroupPeers.follow(directory, client);
            changed.run();
        });
        directory.jobs().onChange(_ -> {
            jobs.wake();
            changed.run();
        });
        parts.add(jobs);
        jobs.begin(directory.jobs(), follower, () -> {
            if (plan.hasBecomeOverdue()) {
                changed.run();
            }
        });
    }

    /** Waits until this is closed, for {@code mostMs} at most. Returns whether it is. */
    public boolean awaitClose(long mostMs) throws InterruptedException {
        return closed.await(mostMs, TimeUnit.MILLISECONDS);
    }

    /**
     * Waits while this node is in the group. The directory may end by itself, where two halves of the group could not merge or memory ran out. Then
     * this node goes on alone, and is to {@link #join} again.
     *
     * @param changed as for {@link #join}
     * @return whether this node is out of the group; false if this is closed
     */
    public boolean awaitLoss(Runnable changed) throws InterruptedException {
        while (!awaitClose(LOOK_EVERY_MS)) {
            Joined now = joined;
            if (now != null && now.directory.hasEnded()) {
                try {
                    leave();
                } catch (RuntimeException | Error e) { // it is out of the group all the same
                    LOG.log(Level.WARNING, "leaving the group", e);
                } finally {
                    changed.run();
                }
                return !isClosed();
            }
        }
        return false;
    }

    private void leave() {
        changing = true;
        try {
            leaveOnce();
        } finally {
            changing = false;
        }
    }

    private synchronized void leaveOnce() {
        if (isClosed()) {
            return;
        }
        trouble = "left the group, for its directory ended on this node by itself: joins again";
        joined = null;
        errors.add("left the group, for its directory ended on this node by itself (the log says why):"
                + " joins again, and samples come from the source meanwhile");
        jobs.leave();
        parts.close();
    }

    private boolean isClosed() {
        return closed.getCount() == 0;
    }

    private void keepNearTheirCards(TransferThreads threads) throws IOException {
        Rails here = config.rails().size() < 2 ? null : Rails.ofThisMachine();
        for (int rail = 0; here != null && rail < config.rails().size(); rail++) {
            BitSet near = here.processorsNear(config.rails().get(rail));
            if (!near.isEmpty()) {
                threads.keepOn(rail, near);
            }
        }
    }

    /** The nodes that plan together now. Before this node has joined, no rank's node is known. */
    public Group group() {
        Joined now = joined;
        if (now != null) {
            return now.plan.group();
        }
        return trouble == null ? Group.unknown(fileNumbers()) : Group.alone(facts().storage());
    }

    private NodeFacts facts() {
        return NodeFacts.of(admission.residents().tiers(), model);
    }

    private FileNumbers fileNumbers() {
        try {
            return numbers();
        } catch (SourceException e) {
            throw new AssertionError("jobs start when the dataset is listed", e);
        }
    }

    /** The numbers of the files. They are made once, because this reads the whole tree, and the listing does not change any more. */
    private FileNumbers numbers() throws SourceException {
        synchronized (tree) {
            if (numbers == null) {
                numbers = FileNumbers.of(tree);
            }
            return numbers;
        }
    }

    /** The jobs that this node and its group tell each other. */
    public GroupJobs jobs() {
        return jobs;
    }

    @Override
    public void kept(int tier, int file) {
        Joined now = joined;
        if (now != null) {
            now.samples.kept(tier, file);
        }
    }

    @Override
    public void gone(int tier, int file) {
        Joined now = joined;
        if (now != null) {
            now.samples.gone(tier, file);
        }
    }

    @Override
    public boolean isElsewhere(int file) {
        Joined now = joined;
        return now == null || now.samples.isElsewhere(file);
    }

    @Override
    public boolean mayHave(int file) {
        Joined now = joined;
        return now != null && now.samples.mayHave(file);
    }

    /** Whether this node is the sample's home. */
    public boolean isHomeHere(int file) {
        Joined now = joined;
        return now != null && now.samples.isHomeHere(file);
    }

    @Override
    public List<Holder> holders(int file) {
        Joined now = joined;
        return now == null ? List.of() : now.samples.holders(file);
    }

    @Override
    public List<Maker> makers(int file) {
        Joined now = joined;
        return now == null ? List.of() : now.samples.makers(file);
    }

    @Override
    public long mostNs(long bytes) {
        return TimeUnit.MILLISECONDS.toNanos(Math.min(mostMs, ANSWER_WITHIN_MS + bytes / SLOWEST_BYTES_PER_MS));
    }

    /** Where a sample is in the group. A local copy says it: no request is sent. */
    public SampleInGroup whereabouts(int file) {
        Joined now = joined;
        String self = config.nodeName();
        return now == null ? new SampleInGroup(self, false, List.of(), null) : now.samples.whereabouts(self, file);
    }

    /** The other nodes, for status. */
    public List<Status.Peer> peers() {
        Joined now = joined;
        return now == null ? List.of() : GroupReport.peers(now.directory, now.client);
    }

    /** This node in its group, for status. */
    public Status.Group report() {
        Joined now = joined;
        return GroupReport.of(config.nodeName(), now == null ? null : now.directory, trouble, admission.plan());
    }

    /** Waits for a join or leave that is under way no longer than moments: the mount is still to be ended. */
    @Override
    public void close() {
        closed.countDown();
        joined = null;
        if (!changing) {
            closeParts();
            return;
        }
        try {
            boolean _ = Thread.ofPlatform()
                    .daemon()
                    .name("group-end")
                    .start(this::closeParts)
                    .join(Duration.ofMillis(LONGEST_CLOSE_MS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void closeParts() {
        joined = null;
        parts.close();
    }
}
