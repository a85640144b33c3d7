package io.clairfs.cache.order.dlio;

import io.clairfs.cache.order.ConsecutiveEpochs;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.SequentialSampler;
import java.math.BigInteger;

/**
 * The order in which DLIO's PyTorch loader opens its files, one sample each; DLIO's epochs count from 1. Each rank reads whole batches of a part
 * of its own.
 *
 * <p>{@code v1} shuffles one list in place before every epoch, with the same seed each time, and cuts it ({@link RepeatedShuffle}). {@code v2}
 * and {@code main} cut the sorted list: their shuffles fill a table that is asked in index order. {@code main} first leaves out what is no whole
 * batch for every rank. {@code v3} deals the files to other ranks before every epoch ({@link Resharding}).
 *
 * <p>Sources: main.py, utils/config.py, data_loader/torch_data_loader.py of argonne-lcf/dlio_benchmark, branches mlperf_storage_v1.0,
 * mlperf_storage_v2.0 and main (e1919d7), and for v3 of mlcommons/DLIO_local_changes (f6796ed).
 */
public final class DlioSampler implements Sampler {
    /** DLIO's seed where its configuration gives none. */
    public static final int USUAL_SEED = 123;

    /** Samples that are moved to reach an epoch of {@code v3}, minutes of work; more is refused. */
    private static final long MOST_WORK = 100_000_000_000L;

    /** How many samples the generator of one rank costs. */
    private static final int WORK_OF_RANK = 200;

    private static final BigInteger MOST_SEED = BigInteger.valueOf(0xffffffffL);

    private final Version version;
    private final int samples;
    private final int world;
    private final int batch;
    /** The length of a rank's part; that of the last ranks may be shorter. */
    private final int part;

    private final BigInteger seed;
    private final boolean shuffle;
    private final boolean seedChangesByEpoch;

    /** The parts of all ranks, one behind the other. */
    private final Sampler parts;

    private enum Version {
        V1,
        V2,
        V3,
        MAIN
    }

    public DlioSampler(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        if (!keys.has("version")) {
            throw new InvalidSpecException(
                    "dlio needs version=v1, v2, v3 or main, the DLIO that reads: each has another order");
        }
        version = Version.values()[keys.choice("version", "v1", "v2", "v3", "main")];
        samples = setting.samples();
        world = keys.integer("world", 1, 1, Integer.MAX_VALUE);
        batch = keys.integer("batch", 1, 1, Integer.MAX_VALUE);
        seed = keys.integer("seed", BigInteger.valueOf(USUAL_SEED));
        shuffle = keys.flag("shuffle", true);
        seedChangesByEpoch = keys.flag("seed_change_epoch", true);
        if (!keys.flag("drop_last", true)) {
            throw new InvalidSpecException("drop_last=false: DLIO always drops the incomplete batch; leave it out");
        }
        part = switch (version) {
            case V1, V3 -> samples / world;
            case V2 -> Math.ceilDiv(samples, world);
            case MAIN -> (int) (batches() * batch);
        };
        parts = parts();
    }

    /** Whole batches for every rank. */
    private long batches() {
        return samples / ((long) batch * world);
    }

    @Override
    public void requirePossible(int epoch) throws InvalidSpecException {
        if (shuffle && version == Version.V1) {
            requireSeed(epoch, 0, "seed");
        } else if (shuffle && version == Version.V3) {
            requireSeed(0, seedChangesByEpoch ? 1 : 0, seedChangesByEpoch ? "seed + epoch" : "seed");
            requireSeed(epoch, 1L + epoch + Resharding.seedOfRank(world - 1), "seed + epoch + 31 x rank");
        }
    }

    private void requireSeed(int epoch, long added, String sum) throws InvalidSpecException {
        BigInteger value = seed.add(BigInteger.valueOf(added));
        if (value.signum() < 0 || value.compareTo(MOST_SEED) > 0) {
            throw new InvalidSpecException("seed=" + Keys.shorten(seed.toString())
                    + " is out of range: numpy takes 0 to 2^32-1, and in epoch " + epoch + ", DLIO's " + (epoch + 1L)
                    + ", it gets " + sum + " = " + Keys.shorten(value.toString()));
        }
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        requirePossible(epoch);
        if ((epoch + 1.0) * workOfEpoch() > MOST_WORK) {
            throw new InvalidSpecException("epoch " + epoch + " of " + samples + " samples and " + world
                    + " ranks follows from too long a history; begin at an earlier epoch");
        }
        return new Parts(parts.epoch(epoch));
    }

    private double workOfEpoch() {
        return version == Version.V3 && shuffle && part > 0 ? samples + (double) WORK_OF_RANK * world : 0;
    }

    private Sampler parts() {
        return switch (version) {
            case V1 -> shuffle ? new RepeatedShuffle(samples, seed.intValue()) : new SequentialSampler(samples);
            case V2, MAIN -> new SequentialSampler(samples);
            case V3 ->
                shuffle
                        ? ConsecutiveEpochs.ofLarge(
                                samples, () -> new Resharding(part, world, seed.longValue(), seedChangesByEpoch))
                        : _ -> EpochOrder.of(Resharding.first(part, world));
        };
    }

    private final class Parts implements EpochOrder {
        private final EpochOrder parts;

        Parts(EpochOrder parts) {
            this.parts = parts;
        }

        /** Whole batches, as many as all ranks have. Where the last rank of {@code v2} has none, the others read one before they notice. */
        @Override
        public int length(int rank) {
            long held = Math.clamp(samples - (long) rank * part, 0, part);
            return (int) (Math.min(held / batch, Math.max(1, batches())) * batch);
        }

        @Override
        public int sample(int rank, int step) {
            return parts.sample(0, rank * part + step);
        }
    }
}
