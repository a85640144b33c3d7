package io.clairfs.cache.order.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.torch.TorchGenerator;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a line may say, and what is refused with which reason. */
class OrderSpecTest {
    /** With the keys that each needs. The two others need a file, and have tests of their own. */
    private static Stream<String> samplersWithoutFile() {
        return Samplers.names().stream()
                .filter(name -> !name.equals("order-file") && !name.equals("torch-state"))
                .map(name -> name.equals("dlio") ? "dlio version=v3" : name);
    }

    private static int[] indices(String line) throws InvalidSpecException {
        return OrderSpec.parse(line).indices();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "seed=1 | samples is missing",
                "samples=-1 | samples=-1 is out of range",
                "samples=10 sampler=torch | unknown sampler 'torch'; known: accelerate, dali",
                "samples=10 rank=2 world=2 | rank=2 is out of range: world=2 has ranks 0 to 1",
                "samples=10 epochs=3 | unknown key 'epochs'",
                "samples=10 epoch=-1 | epoch=-1 is out of range",
                "samples=10 seed=18446744073709551616 | torch takes -2^63 to 2^64-1",
                "samples=10 seed=18446744073709551615 epoch=1 | seed + epoch",
                "samples=10 seed=1.5 | seed='1.5' is not an integer",
                "samples=10 world=0 | world=0 is out of range",
                "samples=10 world=30 torch=1.7 | cannot pad 10 samples to 30 ranks",
                "samples=10 torch=new | is not a version",
                "samples=10 drop_last=true even_divisible=false | does not go with even_divisible=false",
                "samples=10 drop_last=maybe | is neither true nor false",
                "samples=0 sampler=torch-default | RandomSampler refuses an empty dataset",
                "samples=0 sampler=accelerate | RandomSampler refuses an empty dataset",
                "samples=10 sampler=torch-generator batch=0 | batch=0 is out of range",
                "samples=10 sampler=torch-generator torch=1.5 | takes no generator",
                "samples=10 sampler=torch-generator persistent_workers=true | set workers",
                "samples=10 sampler=torch-generator prefetch_factor=4 | set workers",
                "samples=10 sampler=torch-generator workers=1 persistent_workers=1 torch=1.6 | came with 1.7",
                "samples=10 sampler=torch-generator break_after=0 | is no number of batches",
                "samples=10 sampler=torch-generator break_after=2 endless=true | break_after goes neither",
                "samples=10 sampler=torch-generator break_after=2 num_samples=4 | break_after goes neither",
                "samples=10 sampler=torch-generator endless=true draws_between=2 | one iterator for all epochs",
                "samples=10 sampler=torch-generator endless=true reseed_each_epoch=true | no reseed_each_epoch",
                "samples=10 sampler=torch-generator generator=model | is none of loader, sampler",
                "samples=10 sampler=torch-default reseed_each_epoch=true seed=18446744073709551615 epoch=1 | seed + epoch",
                "samples=1000000 sampler=torch-generator epoch=1000000 | too long a history",
                "samples=10 sampler=torch-default draws_before=4294967297 | draws_before=4294967297 takes too long to follow",
                "samples=10 sampler=torch-default draws_between=4611686018427387903 | write the order to a file for sampler=order-file",
                "samples=10 sampler=torch-generator draws_before=4294967297 | with sampler=torch-state",
                "samples=10 sampler=torchdata-stateful draws_before=4294967297 | takes too long to follow",
                "samples=10 sampler=torchdata-stateful draws_between=4294967297 | takes too long to follow",
                "samples=10 sampler=accelerate use_seedable_sampler=false world=2 draws_before=4294967297 | takes too long",
                "samples=10 sampler=torch-generator draws_between=4294967296 epoch=24 | too long a history",
                "samples=10 sampler=torch-default draws_between=4294967296 epoch=24 | too long a history",
                "samples=10 sampler=torchdata-stateful draws_between=4294967296 epoch=24 | too long a history",
                "samples=1000000 sampler=torch-generator num_samples=1 epoch=100001 | too long a history",
                "samples=10 sampler=torch-state | needs state=FILE",
                "samples=10 sampler=torch-state state=/nowhere/state | cannot read state=/nowhere/state",
                "samples=10 sampler=torchdata-stateful seeded=me | is none of default, generator",
                "samples=10 sampler=torchdata-stateful endless=true | knows neither endless",
                "samples=10 sampler=accelerate batch=3 world=2 split_batches=true | needs a batch that is a multiple",
                "samples=10 sampler=accelerate use_seedable_sampler=false | use sampler=torch-default",
                "samples=10 sampler=numpy-legacy seed=4294967296 | RandomState takes 0 to 2^32-1",
                "samples=10 sampler=numpy-legacy seed=-1 | RandomState takes 0 to 2^32-1",
                "samples=10 sampler=numpy-legacy seed=4294967295 reseed_each_epoch=true epoch=1 | RandomState takes",
                "samples=10 sampler=numpy-generator seed=-1 | default_rng refuses it",
                "samples=10 sampler=numpy-generator seed=[1;2] | is neither an integer nor a list",
                "samples=10 sampler=numpy-generator seed=[1] reseed_each_epoch=true epoch=1 | seed is a list",
                "samples=10 sampler=numpy-legacy in_place=true reseed_each_epoch=true | use sampler=order-file",
                "samples=10 sampler=python-random seed=abc | text in quotes",
                "samples=10 sampler=python-random seed=0.1 reseed_each_epoch=true epoch=1 | has to be an integer",
                "samples=10 sampler=python-random seed='a' reseed_each_epoch=true | has to be an integer",
                "samples=10 sampler=python-random seed=NaN | another hash in every run",
                "samples=10 sampler=hf-datasets seed=-1 | default_rng refuses it",
                "samples=10 sampler=hf-datasets buffer_size=4 epoch=1 | not known here",
                "samples=10 sampler=grain seed=4294967296 | seed=4294967296 is out of range",
                "samples=10 sampler=grain seed=-1 | seed=-1 is out of range",
                "samples=0 sampler=dali | refuses an empty list",
                "samples=10 sampler=dali shuffle_after_epoch=true random_shuffle=true | refuses both together",
                "samples=10 sampler=dali shuffle_after_epoch=true stick_to_shard=true | refuses both together",
                "samples=10 sampler=tf-data | tf-data needs seed",
                "samples=10 sampler=tf-data seed=1 buffer_size=0 | buffer_size=0 is out of range",
                "samples=10 sampler=tf-data seed=0 seed2=0 | no order to predict",
                "samples=10 sampler=tf-data seed=1 count=0 | count=0",
                "samples=10 sampler=tf-data seed=1 shuffle_paths=false | belongs to from_directory",
                "samples=10 sampler=dlio | dlio needs version=v1, v2, v3 or main",
                "samples=10 sampler=dlio version=v4 | version='v4' is none of v1, v2, v3, main",
                "samples=10 sampler=dlio version=v2 drop_last=false | always drops the incomplete batch",
                "samples=10 sampler=dlio version=v2 seed=abc | seed='abc' is not an integer",
                "samples=10 sampler=dlio version=v1 seed=-1 | it gets seed = -1",
                "samples=10 sampler=dlio version=v1 seed=4294967296 | numpy takes 0 to 2^32-1",
                "samples=10 sampler=dlio version=v3 seed=-2 | it gets seed + epoch = -1",
                "samples=10 sampler=dlio version=v3 seed=-1 seed_change_epoch=false epoch=1 | it gets seed = -1",
                "samples=10 sampler=dlio version=v3 seed=4294967295 | DLIO's 1, it gets seed + epoch = 4294967296",
                "samples=10 sampler=dlio version=v3 seed=4294967263 world=2 epoch=1 | in epoch 1, DLIO's 2, it gets seed + epoch + 31 x rank",
                "samples=1000000 sampler=dlio version=v3 epoch=1000000 | too long a history",
                "samples=1000000 sampler=dlio version=v3 world=1000000 epoch=500 | too long a history",
                "samples=10 sampler=order-file | needs file=NAME",
                "samples=10 sampler=locality-aware | locality-aware needs batch",
                "samples=10 sampler=locality-aware batch=2 base=sequential | gives no rank samples of its own to deal",
                "samples=10 sampler=locality-aware batch=2 base=locality-aware | gives no rank samples of its own",
                "samples=10 sampler=locality-aware batch=2 base=torch | takes one of torch-distributed, accelerate",
                "samples=10 sampler=locality-aware batch=2 base=order-file | needs file=NAME",
                "samples=10 sampler=locality-aware batch=2 base=order-file file=/tmp/{epoch} | write {rank} in file=NAME",
                "samples=10 sampler=locality-aware batch=2 world=6 per_node=4 | per_node=4 does not divide world=6",
                "samples=10 sampler=locality-aware batch=2 world=2097152 | world=2097152 is out of range",
                "samples=10 sampler=locality-aware batch=2 cached=0 | cached=0 is out of range",
                "samples=10 sampler=locality-aware batch=2 cached=1.01 | cached=1.01 is out of range",
                "samples=10 sampler=locality-aware batch=2 cached=NaN | cached='NaN' is not a number such as 0.8",
                "samples=10 sampler=locality-aware batch=2 skip_samples=3 | or a multiple of 2",
                "samples=10 sampler=locality-aware batch=2 world=4 base=accelerate split_batches=true | that is a multiple",
                "samples=10 sampler=locality-aware batch=2 base=grain drop_last=maybe | is neither true nor false",
                "samples=10 sampler=grain base=grain | unknown key 'base'",
                "samples=10 sampler=partial-local seed=-1 | is negative",
                "samples=10 sampler=partial-local exchange=1.5 | is out of range",
                "samples=10 sampler=partial-local world=4 per_node=3 | does not divide world=4",
                "samples=10 sampler=partial-local world=11 | are too few for world=11",
                "samples=1000000 sampler=partial-local epoch=1000000 | too long a history",
                "samples=10 skip_batches=1 | need batch",
                "samples=10 sampler=grain drop_last=true | need batch",
                "samples=10 seed=1 seed=2 | key 'seed' is given twice"
            })
    void whatAFrameworkRefuses_isRefusedWithTheReason(String line, String reason) {
        assertThatThrownBy(() -> indices(line))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining(reason)
                .message()
                .doesNotContain("\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sampler=torch-default", "sampler=torch-generator reseed_each_epoch=true"})
    void epochsThatPassOverFewDraws_areComputedHoweverLate(String line) throws InvalidSpecException {
        assertThat(indices("samples=200000 epoch=1000000 " + line)).hasSize(200_000);
    }

    @ParameterizedTest
    @MethodSource("samplersWithoutFile")
    void everySampler_takesTheKeysOfEveryLoader(String sampler) throws InvalidSpecException {
        String line = "samples=12 seed=3 epoch=1 workers=2 prefetch_factor=3 persistent_workers=true batch=4 sampler=";
        int[] order = indices(line + sampler);
        assertThat(IntStream.of(order).sorted())
                .containsExactly(IntStream.range(0, 12).boxed().toArray(Integer[]::new));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "torch-distributed",
                "torch-randperm",
                "torch-generator",
                "torch-default",
                "torchdata-stateful",
                "accelerate",
                "numpy-legacy",
                "numpy-generator",
                "python-random",
                "grain",
                "tf-data",
                "dlio version=v1",
                "dlio version=v3",
                "partial-local"
            })
    void epochsDiffer_andDependOnTheSeed(String sampler) throws InvalidSpecException {
        String line = "samples=50 sampler=" + sampler;
        assertThat(indices(line + " seed=1")).isNotEqualTo(indices(line + " seed=1 epoch=1"));
        assertThat(indices(line + " seed=1")).isNotEqualTo(indices(line + " seed=2"));
    }

    @Test
    void seedsEqualModulo32Bits_areEqualInTorch() throws InvalidSpecException {
        int[] expected = indices("samples=100 sampler=torch-generator seed=7");
        assertThat(indices("samples=100 sampler=torch-generator seed=4294967303"))
                .isEqualTo(expected);
        assertThat(indices("samples=100 seed=-1")).isEqualTo(indices("samples=100 seed=18446744073709551615"));
    }

    @Test
    void setEpochForgotten_repeatsTheFirstEpoch() throws InvalidSpecException {
        int[] first = indices("samples=40 seed=5");
        assertThat(indices("samples=40 seed=5 set_epoch=false epoch=3")).isEqualTo(first);
        assertThat(indices("samples=40 seed=5 epoch=3")).isNotEqualTo(first);
    }

    @Test
    void withoutPadding_theRanksTakeEverySampleOnce() throws InvalidSpecException {
        IntStream all = IntStream.empty();
        for (int rank = 0; rank < 4; rank++) {
            all = IntStream.concat(all, Arrays.stream(indices("samples=10 world=4 even_divisible=false rank=" + rank)));
        }
        assertThat(all.sorted()).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    }

    @Test
    void skipping_leavesOutTheBeginningOfTheAskedEpoch() throws InvalidSpecException {
        String line = "samples=21 world=2 batch=4 epoch=3";
        int[] whole = indices(line);
        assertThat(indices(line + " skip_samples=3")).isEqualTo(Arrays.copyOfRange(whole, 3, 11));
        assertThat(indices(line + " skip_batches=2")).isEqualTo(Arrays.copyOfRange(whole, 8, 11));
        assertThat(indices(line + " skip_batches=5")).isEmpty();
        assertThat(indices(line + " drop_last_batch=true")).isEqualTo(Arrays.copyOf(whole, 8));
        assertThat(indices(line + " drop_last_batch=true skip_batches=1")).isEqualTo(Arrays.copyOfRange(whole, 4, 8));
    }

    @Test
    void skippingWholeBatches_leavesTheRestOfALocalityAwareOrder() throws InvalidSpecException {
        String line = "sampler=locality-aware samples=99 world=3 rank=1 batch=4 epoch=3";
        int[] whole = indices(line);
        assertThat(indices(line + " skip_batches=2")).isEqualTo(Arrays.copyOfRange(whole, 8, 33));
        assertThat(indices(line + " skip_samples=8")).isEqualTo(Arrays.copyOfRange(whole, 8, 33));
        assertThat(indices(line + " drop_last_batch=true")).isEqualTo(Arrays.copyOf(whole, 32));
    }

    @Test
    void dropLast_ofALoaderOverAnySampler_cutsTheIncompleteBatch() throws InvalidSpecException {
        assertThat(indices("sampler=sequential samples=10 batch=4 drop_last=true"))
                .containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
        assertThat(indices("samples=10 batch=4 drop_last=true")).hasSize(10);
    }

    @Test
    void skippingSplitBatches_countsTheRanksPieces() throws InvalidSpecException {
        String line = "sampler=accelerate samples=24 world=2 batch=4 split_batches=true rank=1";
        int[] whole = indices(line);
        assertThat(indices(line + " skip_batches=2")).isEqualTo(Arrays.copyOfRange(whole, 4, 12));
    }

    @Test
    void skipping_isForTheResumedEpochAlone() throws InvalidSpecException {
        Keys keys = Keys.parse("sampler=sequential batch=2 skip_batches=1");
        Sampler sampler = Samplers.create(new SamplerSetting(6, 4, null), keys);
        assertThat(sampler.epoch(4).length(0)).isEqualTo(4);
        assertThat(sampler.epoch(4).sample(0, 0)).isEqualTo(2);
        assertThat(sampler.epoch(5).length(0)).isEqualTo(6);
    }

    @Test
    void accelerateSynchronised_isASharedGeneratorSeededByOneDraw() throws InvalidSpecException {
        long drawn = TorchGenerator.seeded(9).int63();
        int[] expected = indices("sampler=torch-generator generator=sampler samples=12 epoch=2 seed=" + drawn);
        int[] even = indices("sampler=accelerate use_seedable_sampler=false samples=12 world=2 batch=1 epoch=2 seed=9");
        int[] odd = indices(
                "sampler=accelerate use_seedable_sampler=false samples=12 world=2 batch=1 epoch=2 seed=9 rank=1");
        for (int i = 0; i < 6; i++) {
            assertThat(even[i]).isEqualTo(expected[2 * i]);
            assertThat(odd[i]).isEqualTo(expected[2 * i + 1]);
        }
    }

    @Test
    void daliShards_moveOnUnlessTheyStick() throws InvalidSpecException {
        int[] list = indices("sampler=dali samples=10");
        String line = "sampler=dali samples=10 world=3 rank=2 epoch=";
        assertThat(indices(line + 0)).isEqualTo(Arrays.copyOfRange(list, 6, 10));
        assertThat(indices(line + 1)).isEqualTo(Arrays.copyOfRange(list, 0, 3));
        assertThat(indices(line + 2)).isEqualTo(Arrays.copyOfRange(list, 3, 6));
        assertThat(indices(line + "2 stick_to_shard=true")).isEqualTo(Arrays.copyOfRange(list, 6, 10));
        assertThat(indices(line + "0 random_shuffle=false")).containsExactly(6, 7, 8, 9);
    }

    @Test
    void grainSlices_areStridesOfTheShuffle() throws InvalidSpecException {
        int[] all = indices("sampler=grain samples=11 seed=4");
        assertThat(indices("sampler=grain samples=11 seed=4 world=3 rank=1"))
                .containsExactly(all[1], all[4], all[7], all[10]);
        assertThat(indices("sampler=grain samples=11 seed=4 world=3 rank=2")).containsExactly(all[2], all[5], all[8]);
    }

    /** The derived seeds are numpy's {@code SeedSequence([42, depth]).generate_state(1)}. */
    @Test
    void grainSeedOfTheDataset_isDerivedByDepth() throws InvalidSpecException {
        assertThat(indices("sampler=grain samples=50 seed=42 depth=1"))
                .isEqualTo(indices("sampler=grain samples=50 seed=3329053876"));
        assertThat(indices("sampler=grain samples=50 seed=42 depth=3"))
                .isEqualTo(indices("sampler=grain samples=50 seed=2541583436"));
    }

    @Test
    void kerasDirectory_shufflesNumpysOrder() throws InvalidSpecException {
        int[] paths = indices("sampler=numpy-legacy samples=100 seed=7");
        int[] buffer = indices("sampler=tf-data samples=100 seed=7 buffer_size=24 epoch=1");
        int[] expected = IntStream.of(buffer).map(i -> paths[i]).toArray();
        String line = "sampler=tf-data from_directory=true samples=100 seed=7 batch=3 epoch=1";
        assertThat(indices(line)).isEqualTo(expected);
        assertThat(indices(line + " shuffle_paths=false")).isEqualTo(paths);
        String many = "sampler=tf-data from_directory=true samples=1000 seed=7";
        assertThat(indices(many)).as("Keras' batch").isEqualTo(indices(many + " buffer_size=256"));
    }

    @Test
    void pythonSeedsOfTfData_becomeTheOpsSeeds() throws InvalidSpecException {
        String line = "sampler=tf-data samples=30 buffer_size=9";
        assertThat(indices(line + " seed=5")).isEqualTo(indices(line + " seed=87654321 seed2=5"));
        assertThat(indices(line + " seed=5 global_seed=6")).isEqualTo(indices(line + " seed=6 seed2=5"));
        assertThat(indices(line + " seed=2147483647 global_seed=0"))
                .isEqualTo(indices(line + " seed=0 seed2=2147483647"));
    }

    @Test
    void check_refusesKeysBeforeTheSizeIsKnown_andReadsNoFile() throws InvalidSpecException {
        Samplers.check(Keys.parse("sampler=order-file file=/nowhere/{epoch}"), 0, 9);
        Samplers.check(Keys.parse("seed=18446744073709551610"), 0, 5);
        assertThatThrownBy(() -> Samplers.check(Keys.parse("seed=18446744073709551610"), 0, 6))
                .isInstanceOf(InvalidSpecException.class);
        assertThatThrownBy(() -> Samplers.check(Keys.parse("sampler=numpy-legacy seed=-1"), 0, 0))
                .isInstanceOf(InvalidSpecException.class);
        Samplers.check(Keys.parse("sampler=dlio version=v3 seed=4294967289"), 0, 5);
        assertThatThrownBy(() -> Samplers.check(Keys.parse("sampler=dlio version=v3 seed=4294967289"), 0, 6))
                .isInstanceOf(InvalidSpecException.class);
    }

    /** Of this thread's own time: others who have the processor meanwhile do not count. */
    @Test
    void tenThousandSmallSpecs_takeSecondsOfTheProcessor() throws InvalidSpecException {
        String[] samplers = samplersWithoutFile().toArray(String[]::new);
        long beginNs = cpuNs();
        long total = 0;
        for (int i = 0; i < 10_000; i++) {
            String line = "samples=" + (1 + i % 200) + " seed=" + i + " epoch=" + i % 5 + " batch=4 sampler="
                    + samplers[i % samplers.length];
            total += OrderSpec.parse(line).digest().length();
        }
        assertThat(total).isPositive();
        assertThat((cpuNs() - beginNs) / 1_000_000).as("milliseconds").isLessThan(60_000);
    }

    private static long cpuNs() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }
}
