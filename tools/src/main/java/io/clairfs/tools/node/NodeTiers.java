package io.clairfs.tools.node;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.JobPlanner;
import io.clairfs.cache.placement.NodePlanner;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.posix.NativeMemory;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.tier.AsListedTier;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.Tier;
import io.clairfs.cache.tier.ssd.SsdTier;
import io.clairfs.tools.node.cluster.PeerGroup;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.config.SsdConfig;
import io.clairfs.tools.node.limits.MemoryBudget;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The tiers of this node, their known speed, and their planner. */
final class NodeTiers implements AutoCloseable {
    private static final double OBSERVATIONS_LAST_SECONDS = 60;

    private final MountConfig config;
    private final DatasetTree tree;
    private final List<SsdTier> ssds;
    private final List<AsListedTier> compared;
    private final Admission admission;

    private NodeTiers(
            MountConfig config,
            DatasetTree tree,
            List<SsdTier> ssds,
            List<AsListedTier> compared,
            Admission admission) {
        this.config = config;
        this.tree = tree;
        this.ssds = ssds;
        this.compared = compared;
        this.admission = admission;
    }

    /**
     * Opens the configured tiers. Fails if an SSD cannot be used.
     *
     * @param comparison of files whose samples are found on the SSDs, where {@link #recover} wants it
     * @param inherited whether this process goes on for one that has died, which may keep the SSDs locked for a while
     */
    static NodeTiers open(
            MountConfig config,
            DatasetTree tree,
            AsListedTier.Comparison comparison,
            boolean inherited,
            ErrorLog errors)
            throws IOException {
        List<SsdTier> ssds = new ArrayList<>();
        try {
            for (SsdConfig ssd : config.ssds()) {
                ssds.add(open(config, ssd, inherited, errors));
            }
        } catch (IOException e) {
            ssds.forEach(SsdTier::close);
            throw e;
        }
        MemoryTier memory = new MemoryTier(config.memoryBytes());
        NativeMemory.touchAhead();
        MemoryBudget areas = config.areas().with(config.memoryBytes(), config.stagingBytes());
        NativeMemory.keepLarge(areas.fromSourceBytes(), areas.sampleBytes(ssds.size(), config.group() != null));
        List<AsListedTier> compared =
                ssds.stream().map(ssd -> new AsListedTier(ssd, comparison)).toList();
        return new NodeTiers(
                config,
                tree,
                ssds,
                compared,
                new Admission(tree, memory, compared, areas.queueBytes(), areas.largestWholeBytes()));
    }

    private static SsdTier open(MountConfig config, SsdConfig ssd, boolean inherited, ErrorLog errors)
            throws IOException {
        String source = config.source().toString();
        long reserve = config.ssdReserveBytes();
        return inherited
                ? SsdTier.inherited(ssd.directory(), source, ssd.bytes(), reserve, System::nanoTime, errors::add)
                : new SsdTier(ssd.directory(), source, ssd.bytes(), reserve, System::nanoTime, errors::add);
    }

    Admission admission() {
        return admission;
    }

    /**
     * Finds the samples that the disks still hold. Takes seconds for millions of samples. The dataset must be listed.
     *
     * @param compare whether each is compared with the source before its first use, for the listing may be an earlier mount's
     */
    void recover(boolean compare) {
        if (compare) {
            compared.forEach(tier -> tier.compareAll(tree.entryCount()));
        }
        ssds.forEach(ssd -> ssd.recover(tree));
    }

    /** The expected times of fetches: the model, corrected by observed times. */
    ObservedRates rates() {
        return new ObservedRates(
                FetchCosts.of(model(), storage(), config.loaders()), OBSERVATIONS_LAST_SECONDS, System::nanoTime);
    }

    /** A planner for this node alone, or for its group. */
    JobPlanner planner(@Nullable PeerGroup group) {
        if (group != null) {
            // In a group all nodes make the same plan, with a model of what all of them have measured.
            return new NodePlanner(
                    tree, admission, group::group, PerformanceModel.unmeasured(), config.policy(), PlanLimits.DEFAULT);
        }
        return NodePlanner.alone(tree, admission, this::storage, model(), config.policy(), PlanLimits.DEFAULT);
    }

    private PerformanceModel model() {
        return config.model().model();
    }

    private NodeStorage storage() {
        List<StorageClass> classes = new ArrayList<>();
        for (Tier tier : admission.residents().tiers()) {
            long bytes = tier.sampleRoomBytes();
            classes.add(
                    classes.isEmpty()
                            ? config.model().memoryClass(bytes)
                            : config.model().ssdClass(bytes));
        }
        return new NodeStorage(classes);
    }

    @Override
    public void close() {
        admission.close();
        admission.residents().tiers().forEach(Tier::close);
    }
}
