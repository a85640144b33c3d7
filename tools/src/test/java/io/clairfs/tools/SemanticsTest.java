package io.clairfs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/SEMANTICS.md and the tests agree: every promise names tests, and these tests name the promise. */
class SemanticsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern PROMISE = Pattern.compile("^- \\*\\*([A-Z][0-9]+)\\*\\* (.+)$");
    private static final Pattern TEST = Pattern.compile("`([A-Z][A-Za-z0-9]*Test)\\.([A-Za-z0-9_]+)`");
    private static final Pattern COMMENT = Pattern.compile("^ *// Promise ([A-Z0-9, ]+)$");
    private static final Pattern METHOD = Pattern.compile("^ *(?:public )?void ([A-Za-z0-9_]+)\\(.*");
    private static final int FEWEST_PROMISES = 45;

    /** The tests that the page names, by promise. */
    private static Map<String, SortedSet<String>> promised() throws IOException {
        Map<String, SortedSet<String>> tests = new TreeMap<>();
        for (String line : Files.readAllLines(ROOT.resolve("docs/SEMANTICS.md"))) {
            Matcher promise = PROMISE.matcher(line);
            if (promise.matches()) {
                SortedSet<String> named = new TreeSet<>();
                TEST.matcher(promise.group(2)).results().forEach(t -> named.add(t.group(1) + "." + t.group(2)));
                assertThat(tests.put(promise.group(1), named))
                        .as("%s is promised once", promise.group(1))
                        .isNull();
            }
        }
        return tests;
    }

    /** The tests that name a promise in a comment, by promise. */
    private static Map<String, SortedSet<String>> kept() throws IOException {
        Map<String, SortedSet<String>> tests = new TreeMap<>();
        for (Path source : testSources()) {
            String name = source.getFileName().toString().replace(".java", "");
            List<String> promises = new ArrayList<>();
            for (String line : Files.readAllLines(source)) {
                Matcher comment = COMMENT.matcher(line);
                Matcher method = METHOD.matcher(line);
                if (comment.matches()) {
                    promises.addAll(List.of(comment.group(1).split(", ")));
                } else if (method.matches()) {
                    promises.forEach(
                            p -> tests.computeIfAbsent(p, _ -> new TreeSet<>()).add(name + "." + method.group(1)));
                    promises.clear();
                }
            }
            assertThat(promises)
                    .as("comments in %s with no test behind them", name)
                    .isEmpty();
        }
        return tests;
    }

    private static List<Path> testSources() throws IOException {
        List<Path> found = new ArrayList<>();
        for (String module : List.of("cache", "fs", "peer", "gpu-feeder", "tools")) {
            Path tests = ROOT.resolve(module).resolve("src/test/java");
            if (Files.isDirectory(tests)) {
                try (Stream<Path> all = Files.walk(tests)) {
                    all.filter(p -> p.toString().endsWith("Test.java")).forEach(found::add);
                }
            }
        }
        return found;
    }

    @Test
    void every_promise_is_kept_by_the_tests_that_it_names() throws IOException {
        Map<String, SortedSet<String>> promised = promised();
        assertThat(promised).hasSizeGreaterThanOrEqualTo(FEWEST_PROMISES);
        assertThat(promised)
                .allSatisfy((promise, tests) -> assertThat(tests).as(promise).isNotEmpty());
        assertThat(kept()).isEqualTo(promised);
    }
}
