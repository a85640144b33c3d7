package io.clairfs.cache.testing;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.SourceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Random;

/** Real files in a directory, listed and indexed. */
public final class SmallDataset implements AutoCloseable {
    public final DirectorySource source;
    public final DatasetTree tree;
    public final SampleIndex index;

    public SmallDataset(Path directory, int samples, int largest, long seed)
            throws IOException, SourceException, DatasetException {
        Random random = new Random(seed);
        for (int i = 0; i < samples; i++) {
            byte[] content = new byte[largest == 0 ? 0 : random.nextInt(1, largest + 1)];
            random.nextBytes(content);
            Files.write(directory.resolve(String.format("s%06d", i)), content);
        }
        source = new DirectorySource(directory);
        tree = new DatasetTree(source, 2, warning -> {
            throw new AssertionError(warning);
        });
        tree.complete().join();
        index = Objects.requireNonNull(IndexRule.BY_NAME.get("sorted")).index(tree, tree.root());
    }

    @Override
    public void close() {
        tree.close();
        source.close();
    }
}
