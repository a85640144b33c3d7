package io.clairfs.tools.simulate.scenario;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.tier.ssd.SsdTier;
import io.clairfs.tools.config.ModelFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A cluster, a dataset and a training run, as a scenario file describes them: sizes in MB (10^6 bytes), rates in MB/s. The letters are
 * those of NoPFS section 4.
 *
 * @param nodes N, one rank on each
 * @param compute c, of one node
 * @param preprocess beta
 * @param network b_c
 * @param staging class 0, with p_0 threads
 * @param classes of each node, fastest first
 * @param source t(gamma) of section 4, by the number of nodes that read at once: each of their threads gets t(gamma) / gamma, so that gamma
 *     nodes get p_0 t(gamma); null where {@code sourceTotal} is given
 * @param sourceTotal the total of that many nodes with all their staging threads, p_0 t(gamma); null where {@code source} is given
 * @param epochs E
 * @param batch per node
 * @param dropLast leaves out the last batch of an epoch if it is not full
 * @param sync whether nodes wait for each other in every iteration
 * @param sampler {@code torch-distributed}, the meaning of null, or {@code locality-aware}, with {@code cached=ALPHA} after a blank
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Scenario(
        String name,
        int nodes,
        double compute,
        double preprocess,
        double network,
        Staging staging,
        List<Device> classes,
        @Nullable Rate source,
        @Nullable Rate sourceTotal,
        Dataset dataset,
        int epochs,
        int batch,
        boolean dropLast,
        long seed,
        Sync sync,
        @Nullable String sampler) {
    /** More than any class has, MB. */
    public static final double MOST_CAPACITY = 1e12;

    /** Samplers whose ranks read as many samples as those of {@code DistributedSampler}. */
    private static final Pattern SAMPLERS = Pattern.compile("torch-distributed|locality-aware( cached=[0-9.]{1,20})?");

    private static final double MEGA = 1e6;
    private static final int MOST_NODES = 4096;
    private static final int MOST_EPOCHS = 10_000;

    /** Of a class, and of the staging buffer. */
    public static final int MOST_THREADS = 1024;

    /** How nodes wait for each other. */
    public enum Sync {
        /** All nodes end each iteration together. */
        @JsonProperty("bulk")
        BULK,
        /** Each node runs on by itself. */
        @JsonProperty("none")
        NONE
    }

    /** The staging buffer. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Staging(
            double capacity,
            int threads,
            @Nullable Rate read,
            @Nullable Rate write) {
        public Staging {
            requireCapacity("staging", capacity);
            requireThreads("staging", threads);
        }
    }

    /** A storage class; {@code write} equals {@code read} if the file does not set it. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Device(
            String name,
            double capacity,
            int threads,
            Rate read,
            @Nullable Rate write) {
        public Device {
            require(name != null && !name.isBlank(), "a class has no name");
            requireCapacity("class " + name, capacity);
            requireThreads("class " + name, threads);
            require(read != null, "class " + name + " has no read");
        }

        public StorageClass storageClass() {
            Rate writes = write == null ? read : write;
            return new StorageClass(
                    name,
                    Math.round(capacity * MEGA),
                    threads,
                    read.throughput(),
                    writes.throughput(),
                    0,
                    isMemory() ? 0 : SsdTier.ENTRY_BYTES);
        }

        private Device calibrated(ModelFile.@Nullable Device measured) {
            return measured == null
                    ? this
                    : new Device(
                            name,
                            capacity,
                            Objects.requireNonNullElse(measured.threads(), threads),
                            measured.read() == null ? read : new Rate(measured.read()),
                            measured.write() == null ? write : new Rate(measured.write()));
        }

        public boolean isMemory() {
            return name.equals("memory") || name.equals("ram");
        }
    }

    /** The dataset. Sample sizes are Normal(mean, stddev), clipped at 0. */
    public record Dataset(int samples, double mean, double stddev) {
        public Dataset {
            require(samples >= 1, "dataset.samples is " + samples + "; it must be at least 1");
            require(mean > 0 && stddev >= 0, "dataset.mean must be positive and stddev not negative");
            require(mean + 8 * stddev < 2_000, "a sample may have 2,000 MB at most (mean and 8 stddev)");
        }
    }

    public Scenario {
        require(name != null && !name.isBlank(), "name is missing");
        require(nodes >= 1 && nodes <= MOST_NODES, "nodes is " + nodes + "; it must be 1 to " + MOST_NODES);
        requireRate("compute", compute);
        requireRate("preprocess", preprocess);
        requireRate("network", network);
        require(staging != null, "staging is missing");
        require(classes != null, "classes is missing; a cluster without any has 'classes: []'");
        require(source != null || sourceTotal != null, "source is missing, or source_total");
        require(
                source == null || sourceTotal == null,
                "both source and source_total; source is of one thread on each node, source_total of all of them");
        require(dataset != null, "dataset is missing");
        require(epochs >= 1 && epochs <= MOST_EPOCHS, "epochs is " + epochs + "; it must be 1 to " + MOST_EPOCHS);
        require(batch >= 1, "batch is " + batch + "; it must be at least 1");
        require(sync != null, "sync is missing: bulk or none");
        require(
                sampler == null || SAMPLERS.matcher(sampler).matches(),
                "sampler is '" + sampler + "'; it is torch-distributed, locality-aware or locality-aware cached=ALPHA");
        long iteration = (long) batch * nodes;
        require(
                !dropLast || iteration <= dataset.samples,
                "not one batch of " + batch + " for each of " + nodes + " nodes in " + dataset.samples + " samples");
        classes = List.copyOf(classes);
        require(classes.size() <= 16, "more than 16 classes");
        require(classes.stream().map(Device::name).distinct().count() == classes.size(), "two classes of one name");
    }

    private static void require(boolean right, String otherwise) {
        if (!right) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private static void requireRate(String what, double rate) {
        require(rate > 0 && rate < Rate.MOST, what + " is " + rate + "; it must be a positive rate in MB/s");
    }

    private static void requireCapacity(String what, double capacity) {
        require(capacity >= 0 && capacity <= MOST_CAPACITY, what + ": capacity is " + capacity + " MB");
    }

    private static void requireThreads(String what, int threads) {
        require(
                threads >= 1 && threads <= MOST_THREADS,
                what + ": threads is " + threads + "; it must be 1 to " + MOST_THREADS);
    }

    public PerformanceModel model() {
        Rate unlimited = Rate.of(1e12);
        Rate write = Stream.of(staging.write(), staging.read(), unlimited)
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow();
        Rate read = staging.read() == null ? unlimited : staging.read();
        StorageClass buffer = new StorageClass(
                "staging",
                Math.round(staging.capacity() * MEGA),
                staging.threads(),
                read.throughput(),
                write.throughput());
        return new PerformanceModel(
                compute * MEGA,
                preprocess * MEGA,
                network * MEGA,
                rateOfSource().throughput(),
                buffer);
    }

    /** t(gamma). */
    private Rate rateOfSource() {
        return source != null ? source : Objects.requireNonNull(sourceTotal).dividedBy(staging.threads());
    }

    public NodeStorage storage() {
        return new NodeStorage(classes.stream().map(Device::storageClass).toList());
    }

    /**
     * This scenario with the rates that a node measured. What was not measured stays.
     *
     * <p>The measured source is that of one node: its staging threads get what so many threads got. Rates of more nodes stay.
     */
    public Scenario calibrated(ModelFile measured) {
        List<Device> others = classes.stream()
                .map(each -> each.isMemory()
                        ? each.calibrated(measured.memory())
                        : each.name.equals("ssd") ? each.calibrated(measured.ssd()) : each)
                .toList();
        Rate ofNodes = sourceTotal != null
                ? sourceTotal
                : Objects.requireNonNull(source).times(staging.threads());
        ModelFile.Device store = measured.source();
        boolean isMeasured = store != null && store.hasReadRates();
        Rate kept = nodes > 1 ? ofNodes.with(nodes, ofNodes.throughput().at(nodes) / MEGA) : ofNodes;
        double ofOne = measured.model().source().at(staging.threads()) / MEGA;
        return new Scenario(
                name,
                nodes,
                Objects.requireNonNullElse(measured.compute(), compute),
                Objects.requireNonNullElse(measured.preprocess(), preprocess),
                Objects.requireNonNullElse(measured.network(), network),
                staging,
                others,
                isMeasured ? null : source,
                isMeasured ? kept.with(1, ofOne) : sourceTotal,
                dataset,
                epochs,
                batch,
                dropLast,
                seed,
                sync,
                sampler);
    }

    /** The class of memory, or -1. */
    public int memoryClass() {
        for (int j = 0; j < classes.size(); j++) {
            if (classes.get(j).isMemory()) {
                return j;
            }
        }
        return -1;
    }

    /** This scenario with other capacities of the classes. */
    public Scenario withCapacities(double... capacities) {
        List<Device> others = new ArrayList<>();
        for (int j = 0; j < classes.size(); j++) {
            Device each = classes.get(j);
            others.add(new Device(each.name, capacities[j], each.threads, each.read, each.write));
        }
        return with(others, dataset, epochs);
    }

    public Scenario withEpochs(int number) {
        return with(classes, dataset, number);
    }

    public Scenario withSampler(String other) {
        return new Scenario(
                name,
                nodes,
                compute,
                preprocess,
                network,
                staging,
                classes,
                source,
                sourceTotal,
                dataset,
                epochs,
                batch,
                dropLast,
                seed,
                sync,
                other);
    }

    /** This scenario with the number of samples and the room for them divided by {@code divisor}. The staging buffer is unchanged. */
    public Scenario shrunk(int divisor) {
        int least = (int) Math.min(dataset.samples, (long) batch * nodes);
        Dataset fewer = new Dataset(Math.max(least, dataset.samples / divisor), dataset.mean, dataset.stddev);
        double share = (double) fewer.samples / dataset.samples;
        return with(classes, fewer, epochs)
                .withCapacities(classes.stream()
                        .mapToDouble(each -> each.capacity * share)
                        .toArray());
    }

    private Scenario with(List<Device> otherClasses, Dataset otherDataset, int otherEpochs) {
        return new Scenario(
                name,
                nodes,
                compute,
                preprocess,
                network,
                staging,
                otherClasses,
                source,
                sourceTotal,
                otherDataset,
                otherEpochs,
                batch,
                dropLast,
                seed,
                sync,
                sampler);
    }
}
