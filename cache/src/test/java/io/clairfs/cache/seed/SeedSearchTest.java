package io.clairfs.cache.seed;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SeedSearchTest {
    private static final int SAMPLES = 20_000;
    private static final int READS = 200;

    private final SplittableRandom random = new SplittableRandom(18);

    private LoaderModel model(String line, int samples, int batch, int workers, boolean unknownReaders)
            throws InvalidSpecException {
        JobSpec job = JobSpec.parse(line);
        return new LoaderModel(
                samples,
                job.sampler(samples).epoch(0),
                job.firstRank(),
                job.lastRank(),
                batch,
                workers,
                unknownReaders,
                random);
    }

    private static String found(FirstReads.Snapshot reads, int samples) {
        return new SeedSearch(samples)
                .search(reads, SearchExtent.USUAL, () -> true)
                .map(FoundOrder::line)
                .orElse("nothing");
    }

    @ParameterizedTest
    @CsvSource({"1000, 1, 0, 32, 8", "1000, 8, 0-7, 32, 2", "20000, 64, 63, 32, 8", "1281167, 64, 40-47, 128, 8"})
    void search_ofDistributedReads_findsSeedWorldAndRanks(int samples, int world, String ranks, int batch, int workers)
            throws InvalidSpecException {
        String expected =
                "sampler=torch-distributed seed=" + 7531 + (world > 1 ? " world=" + world + " ranks=" + ranks : "");
        LoaderModel model = model(expected + " batch=" + batch, samples, batch, workers, false);
        model.foreign(500, 0);
        assertThat(found(model.first(READS), samples) + " ").startsWith(expected + " ");
    }

    @Tag("exhaustive")
    @ParameterizedTest
    @CsvSource({
        "1000, 1, 0, 32, 0",
        "1000, 2, 1, 16, 2",
        "1000, 64, 56-63, 16, 0",
        "20000, 1, 0, 64, 8",
        "20000, 2, 0-1, 256, 2",
        "20000, 8, 2-3, 32, 4",
        "20000, 64, 8-15, 64, 8",
        "1281167, 1, 0, 256, 8",
        "1281167, 64, 63, 256, 8"
    })
    void search_ofFurtherDistributedReads_findsSeedWorldAndRanks(
            int samples, int world, String ranks, int batch, int workers) throws InvalidSpecException {
        search_ofDistributedReads_findsSeedWorldAndRanks(samples, world, ranks, batch, workers);
    }

    @Test
    void search_whenReadersHaveFinishedABatch_findsBatchAndWorkers() throws InvalidSpecException {
        String line = "sampler=torch-distributed seed=3 world=8 ranks=2-3 batch=32 workers=4";
        assertThat(found(model(line, SAMPLES, 32, 4, false).first(READS), SAMPLES))
                .isEqualTo(line);
    }

    @ParameterizedTest
    @CsvSource({"2, 0, 0", "2, 1, 0", "2, 1, 2", "8, 2-3, 2", "4, 0-1, 0"})
    void search_ofWholeBatches_findsAccelerate(int world, String ranks, int workers) throws InvalidSpecException {
        String line = "sampler=accelerate seed=42 world=" + world + " ranks=" + ranks + " batch=16"
                + (workers > 0 ? " workers=" + workers : "");
        assertThat(found(model(line, SAMPLES, 16, workers, false).first(400), SAMPLES))
                .isEqualTo(line);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sampler=torch-generator seed=4321",
                "sampler=torch-default seed=1234",
                "sampler=tf-data seed=17",
                "sampler=grain seed=99 world=4 ranks=2-3",
                "sampler=numpy-legacy seed=42",
                "sampler=numpy-generator seed=2024",
                "sampler=python-random seed=3407",
                "sampler=python-random method=sample seed=7",
                "sampler=torchdata-stateful seed=1337",
                "sampler=torchdata-stateful seeded=generator seed=5 workers=2",
                "sampler=sequential",
                "sampler=torch-distributed shuffle=false world=4 ranks=1",
                "sampler=dali"
            })
    void search_ofEveryFamily_findsIt(String line) throws InvalidSpecException {
        LoaderModel model = model(line, SAMPLES, 32, 2, false);
        model.foreign(500, 12);
        assertThat(found(model.first(READS), SAMPLES))
                .isEqualTo(line.replace(" workers=2", "") + " batch=32 workers=2");
    }

    @Test
    void search_ofReadersThatCannotBeToldApart_findsTheOrder() throws InvalidSpecException {
        String line = "sampler=torch-distributed seed=77 world=4 ranks=2";
        assertThat(found(model(line, SAMPLES, 32, 4, true).first(READS), SAMPLES))
                .startsWith(line);
    }

    /** A pool of threads takes one file after another: no reader's reads are equally far apart. */
    @Test
    void search_ofAThreadPool_findsTheOrder() throws InvalidSpecException {
        EpochOrder order =
                JobSpec.parse("sampler=tf-data seed=5").sampler(SAMPLES).epoch(0);
        FirstReads reads = new FirstReads(SAMPLES);
        for (int step = 0; step < READS; step++) {
            reads.read(1 + random.nextInt(16), order.sample(0, step));
        }
        assertThat(found(reads.snapshot(), SAMPLES)).isEqualTo("sampler=tf-data seed=5");
    }

    @Test
    void search_amongForeignReads_findsTheOrder() throws InvalidSpecException {
        String line = "sampler=torch-distributed seed=11";
        LoaderModel model = model(line, SAMPLES, 32, 0, false);
        for (int count = 1; count < READS; count += 10) {
            model.first(count);
            model.foreign(600, random.nextInt(SAMPLES));
            model.foreignOfWorker(random.nextInt(SAMPLES));
        }
        assertThat(found(model.first(READS), SAMPLES)).isEqualTo(line);
    }

    /** A seed that is not among the usual ones is found too. Small enough to try some thousands. */
    @Test
    void search_ofAnUnusualSeed_findsIt() throws InvalidSpecException {
        String line = "sampler=torch-generator seed=6543";
        assertThat(found(model(line, 1000, 8, 0, false).first(READS), 1000)).startsWith(line);
    }

    @Test
    void search_inTheBackground_goesFurther() throws InvalidSpecException {
        String line = "sampler=torch-distributed seed=2222 world=300 ranks=250";
        FirstReads.Snapshot reads = model(line, SAMPLES, 32, 0, false).first(READS);
        assertThat(new SeedSearch(SAMPLES).search(reads, SearchExtent.WIDE, () -> true))
                .hasValueSatisfying(found -> assertThat(found.line()).isEqualTo(line));
    }

    @Test
    void search_whenToldToStop_ends() {
        AtomicInteger asked = new AtomicInteger();
        SeedSearch search = new SeedSearch(SAMPLES);
        FirstReads reads = new FirstReads(SAMPLES);
        IntStream.range(0, READS).forEach(i -> reads.read(1, random.nextInt(SAMPLES)));
        assertThat(search.search(reads.snapshot(), SearchExtent.USUAL, () -> asked.incrementAndGet() < 5))
                .isEmpty();
        assertThat(asked).hasValue(5);
        assertThat(search.candidates()).isBetween(1L, 10_000L);
    }

    /** With so few reads chance would give a fit to some candidate: nothing is tried. */
    @Test
    void search_ofTooFewReads_triesNothing() {
        SeedSearch search = new SeedSearch(SAMPLES);
        FirstReads reads = new FirstReads(SAMPLES);
        IntStream.range(0, 5).forEach(i -> reads.read(1, i));
        assertThat(search.search(reads.snapshot(), SearchExtent.WIDE, () -> true))
                .isEmpty();
        assertThat(search.candidates()).isZero();
    }

    /** Two ranks that read one and the same unknown order say nothing twice. */
    @Test
    void search_ofReadsThatTwoReadersShare_countsEachSampleOnce() {
        FirstReads reads = new FirstReads(SAMPLES);
        int[] order = random.ints(6, 0, SAMPLES).toArray();
        for (int reader = 1; reader <= 50; reader++) {
            for (int sample : order) {
                reads.read(reader, sample);
            }
        }
        assertThat(new ReadPlaces(reads.snapshot(), SAMPLES).reads()).isEqualTo(6);
    }

    @Test
    void text_tellsSamplerSeedWorldAndRanks() {
        FoundOrder found = new FoundOrder(
                "sampler=torch-distributed seed=0 world=4 ranks=0-1 batch=32 workers=2", 3, 190, 200, 1e-30);
        assertThat(found.text()).isEqualTo("found: torch-distributed seed=0 world=4 ranks=0-1, epoch 3");
    }
}
