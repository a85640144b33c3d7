package io.clairfs.cache.order.tensorflow;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import java.math.BigInteger;

/**
 * The two seeds of a tf.data op. Source: tensorflow/python/data/util/random_seed.py, framework/random_seed.py.
 *
 * @param first the op's {@code seed}
 * @param second the op's {@code seed2}
 */
record TfSeeds(long first, long second) {
    /** TensorFlow's global seed when none is set. */
    private static final long NO_GLOBAL_SEED = 87654321;

    private static final long MOST = Integer.MAX_VALUE;

    /** Reads keys {@code seed} and {@code global_seed} as in Python, or {@code seed} and {@code seed2} as the op has them. */
    static TfSeeds read(Keys keys) throws InvalidSpecException {
        if (keys.has("seed2")) {
            if (keys.has("global_seed")) {
                throw new InvalidSpecException("seed2 is the op's own seed; it does not go with global_seed");
            }
            return new TfSeeds(
                            keys.integer("seed", 0, Long.MIN_VALUE, Long.MAX_VALUE),
                            keys.integer("seed2", 0, Long.MIN_VALUE, Long.MAX_VALUE))
                    .requireSeeded();
        }
        if (!keys.has("seed")) {
            throw new InvalidSpecException(
                    "tf-data needs seed: without one TensorFlow shuffles differently in every run");
        }
        long op = reduced(keys.integer("seed", BigInteger.ZERO));
        long global = keys.has("global_seed") ? reduced(keys.integer("global_seed", BigInteger.ZERO)) : NO_GLOBAL_SEED;
        return global == 0 && op == 0 ? new TfSeeds(0, MOST) : new TfSeeds(global, op);
    }

    private TfSeeds requireSeeded() throws InvalidSpecException {
        if (first == 0 && second == 0) {
            throw new InvalidSpecException(
                    "seed=0 seed2=0 tells the op to seed itself at random; there is no order to predict");
        }
        return this;
    }

    private static long reduced(BigInteger seed) {
        return seed.mod(BigInteger.valueOf(MOST)).longValueExact();
    }
}
