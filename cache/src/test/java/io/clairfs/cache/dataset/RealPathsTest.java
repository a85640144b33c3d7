package io.clairfs.cache.dataset;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.order.RealPython;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.testing.FurtherCases;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random trees, listed by the torchvision and the standard library of this machine. */
@Tag("long")
class RealPathsTest {
    private static final int SEED = Integer.getInteger("clairfs.test.seed", 1);
    private static final int TREES = FurtherCases.of(100);

    @TempDir
    Path directory;

    @Test
    void everyIndex_isTheLibrarysOwn() throws Exception {
        System.out.println("RealPathsTest: seed " + SEED);
        Path trees = Files.createDirectory(directory.resolve("trees"));
        List<String> lines = RealPython.run(
                "real_paths.py",
                directory,
                "torchvision",
                Integer.toString(SEED),
                Integer.toString(TREES),
                trees.toString());
        List<String> different = new ArrayList<>();
        int compared = 0;
        for (String line : lines) {
            String[] parts = line.split("\t", -1);
            if (parts[2].equals("fails")) {
                continue; // there is nothing to compare with
            }
            compared++;
            String found = found(trees.resolve(parts[0]), parts[1]);
            if (!found.equals(parts[2])) {
                different.add(line + "\nbut here: " + found);
            }
        }
        assertThat(lines).hasSize(4 * TREES);
        assertThat(compared).as("seed " + SEED).isGreaterThan(3 * TREES);
        assertThat(different).as("seed " + SEED).isEmpty();
    }

    private static String found(Path root, String rule) throws Exception {
        try (DirectorySource source = new DirectorySource(root);
                DatasetTree tree = new DatasetTree(source, 2, warning -> {})) {
            tree.complete().get(60, TimeUnit.SECONDS);
            return shown(tree, rule);
        }
    }

    private static String shown(DatasetTree tree, String rule) throws SourceException {
        try {
            SampleIndex index = IndexRule.of(rule).index(tree, tree.root());
            List<String> paths = new ArrayList<>();
            for (int sample = 0; sample < index.size(); sample++) {
                paths.add(HexFormat.of().formatHex(index.path(sample)));
            }
            return String.join(" ", paths);
        } catch (DatasetException e) {
            return "refused";
        }
    }
}
