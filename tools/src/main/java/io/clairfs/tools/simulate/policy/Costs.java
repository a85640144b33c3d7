package io.clairfs.tools.simulate.policy;

import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.model.Throughput;
import io.clairfs.tools.simulate.scenario.Scenario;
import java.util.List;

/**
 * The current time per byte for one thread, by place: section 4 of NoPFS with the current number of threads at each place.
 *
 * <p>The paper leaves open how many nodes read the source at once (gamma) when only some of their reads go there, and notes that the number of
 * threads at a storage class is not known. Here both are means over the last iterations: a thread that reads at a place meets each of the other
 * threads there with the probability {@code f}. So gamma = 1 + (N - 1) f nodes share the source, and 1 + (p_0 - 1) f + p_0 f' threads a class of
 * the node itself, where f' is for reads from other nodes.
 *
 * <p>Places are numbered: first the classes of the node itself, then the same classes of other nodes, last the source.
 */
public final class Costs {
    /** The greatest weight of one iteration in the mean. */
    private static final double MOST_WEIGHT = 1.0 / 16;

    /** The mean is of so many samples at least: in a small iteration chance decides which places are read. */
    private static final double MEAN_OF = 1024;

    /** The relative step by which slopes are computed. */
    private static final double STEP = 1e-6;

    private final PerformanceModel model;
    private final List<StorageClass> classes;
    private final int nodes;
    private final int threads;
    private final double[] perByte;
    private final double[] toAll;
    private final double[] busy;
    private final double[] share;
    private final double weight;
    /** Whether the source's rate is that of all threads of a node together, those that fill classes with them. */
    private final boolean sharedSource;

    private double elapsed;
    /** The number of a node's filling threads that a staging thread meets at the source, in the mean. */
    private double fillers;
    /** The number of a node's staging threads that a filling thread meets there. */
    private double stagers;

    private double readers;
    private double filling;

    Costs(Scenario scenario) {
        model = scenario.model();
        classes = scenario.storage().classes();
        nodes = scenario.nodes();
        threads = scenario.staging().threads();
        perByte = new double[2 * classes.size() + 1];
        toAll = new double[perByte.length];
        busy = new double[perByte.length];
        share = new double[perByte.length];
        weight = Math.min(MOST_WEIGHT, (double) scenario.batch() * nodes / MEAN_OF);
        sharedSource = scenario.sourceTotal() != null;
        stagers = threads;
        price(nodes);
    }

    /** Prices all places by the share of the threads' time that goes to each, and by how many nodes read the source. */
    private void price(double nodesAtSource) {
        readers = nodesAtSource;
        for (int j = 0; j < classes.size(); j++) {
            double ours = share[local(j)];
            double theirs = share[peer(j)];
            double besideLocal = (threads - 1) * ours + threads * theirs;
            double otherPeers = nodes == 1 ? 0 : (threads - 1.0 / (nodes - 1)) * theirs;
            double besidePeer = threads * ours + otherPeers;
            Throughput read = classes.get(j).read();
            set(local(j), read, besideLocal, 0);
            set(peer(j), read, besidePeer, 1 / model.networkBytesPerSecond());
        }
        set(source(), model.source(), readers - 1, 0);
        if (sharedSource) {
            double longer = (threads + fillers) / threads;
            perByte[source()] *= longer;
            toAll[source()] *= longer;
        }
    }

    private void set(int place, Throughput rate, double beside, double least) {
        double all = 1 + beside;
        double alone = 1 / rate.each(all);
        double slope = (1 / rate.each(all * (1 + STEP)) - alone) / (all * STEP);
        perByte[place] = Math.max(least, alone);
        toAll[place] = perByte[place] + beside * slope;
    }

    /** The number of staging threads, p_0. */
    public int stagingThreads() {
        return threads;
    }

    public int places() {
        return perByte.length;
    }

    int local(int storageClass) {
        return storageClass;
    }

    int peer(int storageClass) {
        return classes.size() + storageClass;
    }

    public int source() {
        return 2 * classes.size();
    }

    /** The class at a place that is not the source. */
    int storageClass(int place) {
        return place % classes.size();
    }

    /** Seconds that a thread needs for a byte from this place, without the write. */
    public double fetch(int place) {
        return perByte[place];
    }

    /**
     * Seconds that a byte from this place costs all threads together: its own, and the delay of the others at the place. A thread that
     * takes the place that is fastest for itself fills a slow class until it is as slow as the source; then all wait longer than without
     * that class.
     */
    double toAll(int place) {
        return toAll[place];
    }

    /** Seconds that a thread needs for a byte from the source while {@code clients} nodes read it. */
    public double fromSource(double clients) {
        return 1 / model.source().each(clients);
    }

    /**
     * Whether the threads of a node that fill classes share a total with its staging threads. Else each thread has a rate of its own, as in the
     * paper, and more threads get more.
     */
    boolean isSourceShared() {
        return sharedSource;
    }

    /** Seconds that a byte from the source takes a node's connection to it, if it is shared and nothing else of the node is read there. */
    double ofConnection() {
        return fromSource(readers) / threads;
    }

    /** Seconds that one of a class's {@code filling} threads needs for a byte from this place. */
    double fetchToFill(int place, int filling) {
        return place == source() && sharedSource
                ? ofConnection() * (Math.max(filling, fillers) + stagers)
                : fetch(place);
    }

    /** Seconds that a thread needs for a byte from the source while all nodes load it with so many threads each. */
    private double loading(int loaders) {
        return sharedSource ? fromSource(nodes) / threads * loaders : fromSource(nodes);
    }

    /** Seconds that a thread needs to preprocess a byte and to write it to the staging buffer. */
    public double write() {
        return model.write(1_000_000) / 1e6;
    }

    /** Seconds that one of the class's threads needs to preprocess a byte and to write it there. */
    double writeTo(int storageClass) {
        StorageClass each = classes.get(storageClass);
        return Math.max(1 / model.preprocessBytesPerSecond(), 1 / each.write().each(each.threads()));
    }

    /** Seconds that a node needs to bring a byte to a class before the run, while {@code loaders} threads of each node load. */
    double load(int storageClass, int loaders) {
        return (loading(loaders) + writeTo(storageClass))
                / classes.get(storageClass).threads();
    }

    /** Seconds of a node's computation for a byte. */
    public double compute() {
        return 1 / model.computeBytesPerSecond();
    }

    /**
     * Updates the means after an iteration.
     *
     * @param atPlace seconds that staging threads of all nodes spent at each place
     * @param perNode seconds that a node's staging buffer advanced, mean over the nodes
     * @param ahead the reads that fill classes
     */
    public void observe(double[] atPlace, double perNode, AtSource ahead) {
        if (elapsed == 0) {
            System.arraycopy(atPlace, 0, busy, 0, busy.length);
            elapsed = perNode;
        }
        for (int place = 0; place < busy.length; place++) {
            busy[place] += weight * (atPlace[place] - busy[place]);
        }
        elapsed += weight * (perNode - elapsed);
        filling += weight * (ahead.threadSeconds() / nodes - filling);
        double all = elapsed * nodes * threads;
        if (!(all > 0)) {
            return;
        }
        for (int place = 0; place < busy.length; place++) {
            share[place] = Math.min(1, busy[place] / all);
        }
        fillers = filling / elapsed;
        stagers = share[source()] * threads;
        double aheadAtSource = perNode > 0 ? Math.min(1, ahead.seconds() / nodes / perNode) : 0;
        double atSource = ahead.givesWay()
                ? Math.min(1, share[source()] + aheadAtSource)
                : 1 - (1 - share[source()]) * (1 - aheadAtSource);
        price(1 + (nodes - 1) * atSource);
    }
}
