package io.clairfs.tools.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.source.DirectorySource;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The class of each sample of a dataset: the first directory of its path, as image folders have it.
 *
 * @param names of the classes
 * @param of by sample, the place of its class among the names
 */
record DatasetClasses(List<String> names, int[] of) {
    private static final int LISTERS = 16;
    private static final int LOOK_SECONDS = 1;

    /** The class of samples that lie in no directory. */
    private static final String NONE = ".";

    /** Lists a directory, and numbers its samples by a rule of {@link IndexRule#of}. */
    static DatasetClasses read(Path directory, String rule) throws IOException, CommandFailedException {
        try (DirectorySource source = new DirectorySource(directory);
                DatasetTree tree = new DatasetTree(source, LISTERS, _ -> {})) {
            awaitListing(tree);
            return of(IndexRule.of(rule).index(tree, tree.root()));
        } catch (DatasetException e) {
            throw new CommandFailedException(String.valueOf(e.getMessage()));
        }
    }

    private static void awaitListing(DatasetTree tree) throws CommandFailedException {
        while (true) {
            try {
                DatasetTree _ = tree.complete().get(LOOK_SECONDS, TimeUnit.SECONDS);
                return;
            } catch (TimeoutException e) {
                String failures = tree.failures();
                if (failures != null) {
                    throw new CommandFailedException("the dataset could not be listed in full: " + failures);
                }
            } catch (ExecutionException e) {
                throw new CommandFailedException("the dataset could not be listed: " + e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommandFailedException("interrupted");
            }
        }
    }

    private static DatasetClasses of(SampleIndex index) {
        Map<String, Integer> numbers = new HashMap<>();
        List<String> names = new ArrayList<>();
        int[] of = new int[index.size()];
        for (int sample = 0; sample < of.length; sample++) {
            byte[] path = index.path(sample);
            int end = firstDirectory(path);
            of[sample] = numbers.computeIfAbsent(new String(path, 0, end, ISO_8859_1), _ -> {
                names.add(end == 0 ? NONE : new String(path, 0, end, UTF_8));
                return names.size() - 1;
            });
        }
        return new DatasetClasses(names, of);
    }

    /** The length of its name; 0 where there is none. */
    private static int firstDirectory(byte[] path) {
        int end = 0;
        while (end < path.length && path[end] != '/') {
            end++;
        }
        return end == path.length ? 0 : end;
    }
}
