package io.clairfs.cache.order;

import java.util.Map;
import java.util.TreeMap;

/** The samplers by the names that users write, with the keys that each takes. */
public final class Samplers {
    /** The sampler of a job that names none. */
    public static final String DEFAULT = "torch-distributed";

    private static final Map<String, Factory> BY_NAME = new TreeMap<>(Map.of(
            DEFAULT, TorchDistributedSampler::new, "sequential", (samples, keys) -> new SequentialSampler(samples)));

    private Samplers() {}

    /** Makes a sampler from the keys of a line; it asks {@code keys} for every key that it knows. */
    @FunctionalInterface
    interface Factory {
        Sampler create(int samples, Keys keys) throws InvalidSpecException;
    }

    /**
     * The sampler that {@code keys} describe, over sample indices 0 to {@code samples - 1}.
     *
     * @throws InvalidSpecException for an unknown name, or a value that the framework itself would refuse
     */
    public static Sampler create(int samples, Keys keys) throws InvalidSpecException {
        String name = keys.text("sampler", DEFAULT);
        Factory factory = BY_NAME.get(name);
        if (factory == null) {
            throw new InvalidSpecException(
                    "unknown sampler '" + name + "'; known: " + String.join(", ", BY_NAME.keySet()));
        }
        return factory.create(samples, keys);
    }
}
