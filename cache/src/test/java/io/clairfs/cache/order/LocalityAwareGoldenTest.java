package io.clairfs.cache.order;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.locality.Owners;
import io.clairfs.cache.order.spec.OrderSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locality-aware orders beside their reference in Python, which docs/ORDERS.md prints. */
class LocalityAwareGoldenTest {
    private static final String REFERENCE = "locality_aware.py";

    @TempDir
    Path directory;

    @TestFactory
    Stream<DynamicTest> orders() {
        return Golden.tests(Golden.file("locality_aware").get("cases"), c -> {
            for (String rank : c.get("ranks").propertyNames()) {
                Golden.assertOrder(
                        c.get("ranks").get(rank), Golden.order(c.get("spec").asString() + " rank=" + rank));
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> owners() {
        return Golden.tests(Golden.file("locality_aware").get("owners"), c -> {
            Owners owners = new Owners(
                    c.get("samples").asInt(),
                    c.get("nodes").asInt(),
                    c.get("cached").asDouble());
            int[] samples = Golden.ints(c.get("of"));
            int[] expected = Golden.ints(c.get("owner"));
            for (int i = 0; i < samples.length; i++) {
                assertThat(owners.applyAsInt(samples[i])).isEqualTo(expected[i]);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void randomOrders_areDealtAsByTheReference(int seed) throws Exception {
        List<String> lines = RealPython.run(
                REFERENCE, directory, "hashlib", "cases", Integer.toString(seed), "40", directory.toString());
        assertThat(lines).hasSizeGreaterThan(60);
        for (String line : lines) {
            int tab = line.indexOf('\t');
            String spec = line.substring(0, tab);
            assertThat(OrderSpec.parse(spec).digest())
                    .as("seed %d, %s", seed, spec)
                    .hasToString(line.substring(tab + 1));
        }
    }

    @Test
    void docs_printTheReference() throws IOException {
        try (InputStream in = LocalityAwareGoldenTest.class.getResourceAsStream("/differential/" + REFERENCE)) {
            String script = new String(in.readAllBytes(), UTF_8);
            String reference = script.substring(
                    script.indexOf("# docs/ORDERS.md from here\n") + "# docs/ORDERS.md from here\n".length(),
                    script.indexOf("# to here\n"));
            assertThat(Files.readString(Path.of("../docs/ORDERS.md"))).contains("```python\n" + reference + "```\n");
        }
    }
}
