package io.clairfs.cache.dataset;

import io.clairfs.cache.source.SourceException;
import java.util.Map;
import java.util.TreeMap;

/** How a framework turns a directory tree into numbered samples. */
public interface IndexRule {
    /** The rules by the names that users write. */
    Map<String, IndexRule> BY_NAME =
            new TreeMap<>(Map.of("imagefolder", new ImageFolderRule(), "sorted", new SortedRule()));

    /**
     * The samples below {@code root}, in the framework's order. The tree must be complete.
     *
     * @throws DatasetException when the framework itself would refuse this tree, with the reason
     */
    SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException;
}
