package io.clairfs.cache.order.dlio;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.python.NumpyShuffle;
import io.clairfs.cache.order.python.PermutationSampler;
import io.clairfs.cache.order.random.Mt19937;
import io.clairfs.cache.order.spec.OrderSpec;
import io.clairfs.cache.order.spec.Samplers;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds for every run of DLIO, whatever its size. */
class DlioSamplerTest {
    private static final int RUNS = 200;
    private static final int EPOCHS = 5;

    private final long seed = Long.getLong("clairfs.test.seed", 1);
    private final Random random = new Random(seed);

    /** Parameters by chance. */
    private record Run(String version, int files, int world, int batch, String more) {
        static Run any(String version, Random random) {
            int world = 1 + random.nextInt(random.nextBoolean() ? 4 : 40);
            int batch = 1 + random.nextInt(12);
            int files = random.nextBoolean() ? random.nextInt(600) : world * batch * random.nextInt(6);
            String more = " seed=" + random.nextInt(1 << 20) + " shuffle=" + (random.nextInt(6) > 0)
                    + " seed_change_epoch=" + random.nextBoolean();
            return new Run(version, files, world, batch, more);
        }

        Sampler sampler() throws InvalidSpecException {
            return Samplers.create(
                    files,
                    Keys.parse("sampler=dlio version=" + version + " world=" + world + " batch=" + batch + more));
        }
    }

    private static int[] indices(String keys) throws InvalidSpecException {
        return OrderSpec.parse("sampler=dlio " + keys).indices();
    }

    @ParameterizedTest
    @ValueSource(strings = {"v1", "v2", "v3", "main"})
    void ranks_readWholeBatches_andNoFileInCommon(String version) throws InvalidSpecException {
        for (int i = 0; i < RUNS; i++) {
            Run run = Run.any(version, random);
            Sampler sampler = run.sampler();
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                String what = run + ", epoch " + epoch + ", test seed " + seed;
                EpochOrder order = sampler.epoch(epoch);
                BitSet read = new BitSet();
                int reads = 0;
                for (int rank = 0; rank < run.world; rank++) {
                    int length = order.length(rank);
                    assertThat(length % run.batch).as(what).isZero();
                    reads += length;
                    for (int step = 0; step < length; step++) {
                        assertThat(order.sample(rank, step)).as(what).isBetween(0, run.files - 1);
                        read.set(order.sample(rank, step));
                    }
                }
                assertThat(read.cardinality()).as(what).isEqualTo(reads);
                int steps = run.files / (run.batch * run.world);
                if (!version.equals("v2") || run.files % run.world == 0) {
                    assertThat(reads).as(what).isEqualTo(steps * run.batch * run.world);
                }
            }
        }
    }

    /** The lists of all ranks have the same files in every epoch: those that every rank has as many of. */
    @Test
    void resharding_losesNoFile() {
        for (int i = 0; i < RUNS; i++) {
            int files = random.nextInt(60);
            int world = 1 + random.nextInt(40);
            Resharding resharding = new Resharding(files, world, random.nextInt(1 << 20), random.nextBoolean());
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                int[] lists = resharding.next();
                Arrays.sort(lists);
                assertThat(lists)
                        .as(files + " files, " + world + " ranks, test seed " + seed)
                        .isEqualTo(PermutationSampler.identity(files * world));
            }
        }
    }

    @Test
    void powersOfAShuffle_areTheListShuffledAgain() {
        for (int files : new int[] {0, 1, 2, 9, 250}) {
            RepeatedShuffle repeated = new RepeatedShuffle(files, 123);
            int[] list = PermutationSampler.identity(files);
            for (int epoch = 0; epoch < 40; epoch++) {
                new NumpyShuffle(new Mt19937(123)).shuffle(list);
                EpochOrder order = repeated.epoch(epoch);
                assertThat(order.length(0)).isEqualTo(files);
                for (int step = 0; step < files; step++) {
                    assertThat(order.sample(0, step)).as("epoch " + epoch).isEqualTo(list[step]);
                }
            }
        }
    }

    @Test
    void ordersInUse_areNotChangedByLaterEpochs() throws InvalidSpecException {
        Sampler sampler = new Run("v3", 12, 3, 2, "").sampler();
        EpochOrder first = sampler.epoch(0);
        int[] before = {first.sample(0, 0), first.sample(1, 1), first.sample(2, 3)};
        sampler.epoch(1);
        sampler.epoch(2);
        assertThat(new int[] {first.sample(0, 0), first.sample(1, 1), first.sample(2, 3)})
                .isEqualTo(before);
    }

    @Test
    void mainLeavesOutWhatIsNoBatchForAll_v2CutsAllFiles() throws InvalidSpecException {
        assertThat(indices("version=main samples=23 world=2 batch=5 rank=1"))
                .containsExactly(10, 11, 12, 13, 14, 15, 16, 17, 18, 19);
        assertThat(indices("version=v2 samples=23 world=2 batch=5 rank=1"))
                .containsExactly(12, 13, 14, 15, 16, 17, 18, 19, 20, 21);
        String whole = " samples=40 world=4 batch=5 rank=2 epoch=7";
        assertThat(indices("version=v2" + whole)).isEqualTo(indices("version=main" + whole));
    }

    @Test
    void withoutShuffle_v3ReadsEveryNthFile() throws InvalidSpecException {
        assertThat(indices("version=v3 samples=14 world=3 batch=2 rank=1 shuffle=false epoch=3"))
                .containsExactly(1, 4, 7, 10);
    }

    @Test
    void seed_is123WhereNoneIsGiven() throws InvalidSpecException {
        for (String version : new String[] {"v1", "v3"}) {
            String line = "samples=50 epoch=2 version=" + version;
            assertThat(indices(line)).isEqualTo(indices(line + " seed=123"));
        }
    }

    @Test
    void dropLast_isTheLoadersAnyway_andBatchesAreSkipped() throws InvalidSpecException {
        String line = "version=v3 samples=47 world=2 batch=4 rank=1 epoch=2";
        int[] whole = indices(line);
        assertThat(whole).hasSize(20);
        assertThat(indices(line + " drop_last=true")).isEqualTo(whole);
        assertThat(indices(line + " drop_last_batch=true")).isEqualTo(whole);
        assertThat(indices(line + " skip_batches=2")).isEqualTo(Arrays.copyOfRange(whole, 8, 20));
        assertThat(indices(line + " skip_samples=3")).isEqualTo(Arrays.copyOfRange(whole, 3, 20));
    }

    @ParameterizedTest
    @ValueSource(strings = {"v1", "v3", "main"})
    void moreRanksThanFiles_readNothing(String version) throws InvalidSpecException {
        assertThat(indices("version=" + version + " samples=10 seed=0 world=100000000 rank=99999999"))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "version=v1 samples=1000000 world=1000000",
                "version=v2 samples=1000000 world=1000000",
                "version=v3 samples=1000000 world=1000000 shuffle=false",
                "version=v3 samples=10 world=2000000 seed=0"
            })
    void withoutAHistory_anyEpochIsGiven(String keys) throws InvalidSpecException {
        assertThat(indices(keys + " epoch=100000000")).hasSizeLessThanOrEqualTo(1);
    }

    /** A rank that has nothing lets the others read one batch in v2: only then they look how many steps there are. */
    @Test
    void v2_readsTheFirstBatch_thoughNotAllRanksHaveOne() throws InvalidSpecException {
        String line = "version=v2 samples=103 world=4 batch=26 rank=";
        assertThat(indices(line + 0)).hasSize(26);
        assertThat(indices(line + 3)).isEmpty();
    }
}
