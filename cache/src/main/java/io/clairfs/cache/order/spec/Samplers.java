package io.clairfs.cache.order.spec;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.OrderFileSampler;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.SequentialSampler;
import io.clairfs.cache.order.dali.DaliSampler;
import io.clairfs.cache.order.dlio.DlioSampler;
import io.clairfs.cache.order.grain.GrainSampler;
import io.clairfs.cache.order.locality.LocalityAwareSampler;
import io.clairfs.cache.order.partial.PartialLocalSampler;
import io.clairfs.cache.order.python.HfDatasetsSampler;
import io.clairfs.cache.order.python.PermutationSampler;
import io.clairfs.cache.order.tensorflow.TfDataSampler;
import io.clairfs.cache.order.torch.AccelerateSampler;
import io.clairfs.cache.order.torch.TorchDistributedSampler;
import io.clairfs.cache.order.torch.TorchLoaderSampler;
import io.clairfs.cache.order.torch.TorchRandpermSampler;
import io.clairfs.cache.order.torch.TorchStatefulSampler;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The samplers by the names that users write, with the keys that each takes. */
public final class Samplers {
    /** The sampler of a job that names none. */
    public static final String DEFAULT = "torch-distributed";

    /** The sampler that deals another one's batches to the nodes that own the samples. */
    public static final String LOCALITY_AWARE = "locality-aware";

    /** The sampler of the benchmark DLIO. */
    static final String DLIO = "dlio";

    private static final String ORDER_FILE = "order-file";

    private static final Map<String, Factory> BY_NAME = new TreeMap<>(Map.ofEntries(
            Map.entry(DEFAULT, TorchDistributedSampler::new),
            Map.entry("torch-randperm", TorchRandpermSampler::create),
            Map.entry("torch-generator", TorchLoaderSampler::ofGenerator),
            Map.entry("torch-default", TorchLoaderSampler::ofDefault),
            Map.entry("torch-state", TorchLoaderSampler::ofState),
            Map.entry("torchdata-stateful", TorchStatefulSampler::create),
            Map.entry("accelerate", AccelerateSampler::new),
            Map.entry("numpy-legacy", PermutationSampler::numpyLegacy),
            Map.entry("numpy-generator", PermutationSampler::numpyGenerator),
            Map.entry("python-random", PermutationSampler::python),
            Map.entry("hf-datasets", HfDatasetsSampler::new),
            Map.entry("grain", GrainSampler::new),
            Map.entry("dali", DaliSampler::new),
            Map.entry("tf-data", TfDataSampler::new),
            Map.entry(DLIO, DlioSampler::new),
            Map.entry("sequential", (setting, keys) -> new SequentialSampler(setting.samples())),
            Map.entry(LOCALITY_AWARE, Samplers::localityAware),
            Map.entry("partial-local", PartialLocalSampler::new),
            Map.entry(ORDER_FILE, OrderFileSampler::new)));

    /** Samplers that give each rank samples of its own. */
    private static final List<String> WITH_RANKS = List.of(DEFAULT, "accelerate", "grain", "dali", DLIO, ORDER_FILE);

    /** Keys of the loader or the job, valid for every sampler, if only for how far it reads ahead. */
    private static final Set<String> OF_EVERY_LOADER =
            Set.of("seed", "batch", "workers", "prefetch_factor", "persistent_workers");

    /** The size of the dataset when keys are checked before it is known. */
    private static final int ANY_SIZE = 1 << 16;

    private Samplers() {}

    /** Makes a sampler from the keys of a line; it reads every key that it knows. */
    @FunctionalInterface
    interface Factory {
        Sampler create(SamplerSetting setting, Keys keys) throws InvalidSpecException;
    }

    /** The names of all samplers, sorted. */
    public static Set<String> names() {
        return Collections.unmodifiableSet(BY_NAME.keySet());
    }

    /**
     * Refuses keys with which no dataset could be read, before its size is known. Reads a generator's state file, but no order file.
     *
     * @param firstEpoch the first epoch that is read
     * @param lastEpoch the last
     * @throws InvalidSpecException with the reason
     */
    public static void check(Keys keys, int firstEpoch, int lastEpoch) throws InvalidSpecException {
        Sampler sampler = create(new SamplerSetting(ANY_SIZE), keys);
        sampler.requirePossible(firstEpoch);
        sampler.requirePossible(lastEpoch);
    }

    /** Samples that a rank reads in a step: {@code batch}, or its part of that where the loader splits batches. */
    public static int batchOfRank(Keys keys) throws InvalidSpecException {
        return LoaderCut.batchOfRank(keys, ofFramework(keys));
    }

    /** The seed as it is written, or the one that the sampler has without: 0, but DLIO's own. */
    public static String seed(Keys keys) {
        return keys.text("seed", ofFramework(keys).equals(DLIO) ? Integer.toString(DlioSampler.USUAL_SEED) : "0");
    }

    /** The name of the sampler, or of that whose batches are dealt. */
    private static String ofFramework(Keys keys) {
        String name = keys.text("sampler", DEFAULT);
        return name.equals(LOCALITY_AWARE) ? keys.text("base", DEFAULT) : name;
    }

    /** As {@link #create(SamplerSetting, Keys)}, for a dataset of which only the size is known, read from epoch 0. */
    public static Sampler create(int samples, Keys keys) throws InvalidSpecException {
        return create(new SamplerSetting(samples), keys);
    }

    /**
     * The sampler that {@code keys} describe, over sample indices 0 to {@code setting.samples() - 1}.
     *
     * @throws InvalidSpecException for an unknown name, or a value that the framework itself would refuse
     */
    public static Sampler create(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        String name = keys.text("sampler", DEFAULT);
        Factory factory = BY_NAME.get(name);
        if (factory == null) {
            throw new InvalidSpecException(
                    "unknown sampler '" + name + "'; known: " + String.join(", ", BY_NAME.keySet()));
        }
        OF_EVERY_LOADER.forEach(keys::has);
        Sampler sampler = factory.create(setting, keys);
        return name.equals(LOCALITY_AWARE) ? sampler : LoaderCut.read(setting, keys, name, sampler);
    }

    /**
     * Deals what the loader of the base reads: where the ranks' last batches are not equally long, leaving one out before or after the deal makes a
     * difference.
     */
    private static Sampler localityAware(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        String base = keys.text("base", DEFAULT);
        Factory factory = BY_NAME.get(base);
        if (factory == null || !WITH_RANKS.contains(base)) {
            throw new InvalidSpecException("base=" + Keys.shorten(base) + " gives no rank samples of its own to deal;"
                    + " locality-aware takes one of " + String.join(", ", WITH_RANKS));
        }
        if (base.equals(ORDER_FILE) && !keys.text("file", "{rank}").contains("{rank}")) {
            throw new InvalidSpecException("base=order-file needs a file for each rank: write {rank} in file=NAME,"
                    + " it stands for the rank's number");
        }
        if (!keys.has("batch")) {
            throw new InvalidSpecException("locality-aware needs batch, the samples of one rank in one step");
        }
        Sampler whole = factory.create(setting, keys);
        int batch = LoaderCut.batchOfRank(keys, base);
        if (keys.integer("skip_samples", 0, 0, Integer.MAX_VALUE) % batch != 0) {
            throw new InvalidSpecException("skip_samples ends within a batch, and locality-aware deals whole batches;"
                    + " use skip_batches, or a multiple of " + batch);
        }
        return LocalityAwareSampler.create(setting, keys, LoaderCut.read(setting, keys, base, whole), batch);
    }
}
