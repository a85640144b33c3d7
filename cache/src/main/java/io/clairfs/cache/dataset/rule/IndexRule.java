package io.clairfs.cache.dataset.rule;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.source.SourceException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** How a framework turns a directory tree into numbered samples. */
public interface IndexRule {
    /** The rules by the names that users write. */
    Map<String, IndexRule> BY_NAME = Collections.unmodifiableMap(new TreeMap<>(Map.of(
            "imagefolder", new ImageFolderRule(),
            "timm", new TimmRule(),
            "keras", new KerasRule(false),
            "keras-follow-links", new KerasRule(true),
            "hf-imagefolder", new HfImageFolderRule(),
            "yolo", new YoloRule(),
            "dali", new DaliRule(),
            "sorted", new SortedRule())));

    /** The prefix of the rule that takes its order from a file: {@code manifest:FILE}. */
    String MANIFEST = "manifest:";

    /**
     * The rule that a user wrote: a name, or {@code manifest:FILE}, the file relative to the current directory.
     *
     * @throws DatasetException when there is no such rule
     */
    static IndexRule of(String text) throws DatasetException {
        if (text.startsWith(MANIFEST) && text.length() > MANIFEST.length()) {
            return ManifestRule.of(Path.of(text.substring(MANIFEST.length())).toAbsolutePath());
        }
        IndexRule rule = BY_NAME.get(text);
        if (rule == null) {
            throw new DatasetException("unknown index rule '" + text + "'; known: "
                    + String.join(", ", BY_NAME.keySet()) + ", " + MANIFEST + "FILE");
        }
        return rule;
    }

    /**
     * The samples below {@code root}, in the framework's order. The tree must be complete.
     *
     * @throws DatasetException when the framework itself would refuse this tree, with the reason
     */
    SampleIndex index(DatasetTree tree, Directory root) throws DatasetException, SourceException;
}
