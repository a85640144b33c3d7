package io.clairfs.cache.view;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SavedListings;
import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SampleReader;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.ReadBytes;
import io.clairfs.cache.testing.Repeating;
import io.clairfs.cache.tier.MemoryTier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A dataset whose files a view repeats, with one that it cannot make anything of, and a node that reads it. */
abstract class ViewFixture {
    static final long MIB = 1 << 20;
    static final long READERS_BYTES = 4 * MIB;
    static final FileTime LONG_AGO = FileTime.from(Instant.parse("2020-01-02T03:04:05Z"));
    static final String LONG_HEADER = "L" + "l".repeat(300_000);

    @TempDir
    Path directory;

    Path dataset;

    @BeforeEach
    void makeDataset() throws IOException {
        dataset = Files.createDirectory(directory.resolve("dataset"));
        Files.writeString(dataset.resolve("twice"), "T1234");
        Files.writeString(dataset.resolve("broken"), "Broken");
        Files.writeString(dataset.resolve("plain"), "as it is");
        Files.writeString(dataset.resolve("empty"), "");
        Files.writeString(dataset.resolve("long"), LONG_HEADER);
        Files.setLastModifiedTime(dataset, LONG_AGO);
    }

    static View times(int times) {
        return View.of(new Repeating(times));
    }

    static DatasetTree listed(Source source, View view, SavedListings saved, Consumer<String> warnings)
            throws SourceException {
        DatasetTree tree = new DatasetTree(source, view, saved, 2, warnings);
        tree.complete().join();
        return tree;
    }

    /** Fails for a test that expects no warning. */
    static void none(String warning) {
        assertThat(warning).as("a warning").isNull();
    }

    static int file(DatasetTree tree, String name) throws SourceException {
        return Objects.requireNonNull(tree.find(name.getBytes(UTF_8), 1_000)).number();
    }

    /** Reads samples as a mount does. */
    static final class Node implements AutoCloseable {
        private final DatasetTree tree;
        final MemoryTier memory = new MemoryTier(64 * MIB);
        final Admission admission;

        /** No time passes for it: what a reader has in hand stays until the end. */
        private final SamplesInUse inUse = new SamplesInUse(READERS_BYTES, () -> 0);

        final Counters counters = new Counters();
        final FetchRouter router;
        private final SampleReader reader;

        Node(Source source, DatasetTree tree) {
            this.tree = tree;
            admission = new Admission(tree, memory, List.of(), MIB);
            router = new FetchRouter(
                    new FetchPlaces(tree, source, admission, inUse, PeerFetch.NONE),
                    FetchLimits.DEFAULT,
                    new ObservedRates((_, _) -> 1e-3, 60, System::nanoTime),
                    counters,
                    System::nanoTime);
            reader = new SampleReader(tree, source, router, inUse, counters, new ErrorLog(Clock.systemUTC()), 60_000);
        }

        byte[] read(String name, long offset, int length) throws SourceException {
            return ReadBytes.of(reader, file(tree, name), offset, length);
        }

        String read(String name) throws SourceException {
            return new String(read(name, 0, (int) tree.fileSize(file(tree, name))), UTF_8);
        }

        @Override
        public void close() {
            reader.close();
            admission.close();
            memory.close();
            inUse.close();
        }
    }
}
