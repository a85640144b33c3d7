package io.clairfs.cache.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.spec.OrderSpec;
import io.clairfs.cache.testing.FurtherCases;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Thousands of random cases against the torch, numpy and random of this machine. */
@Tag("long")
class RealOrdersTest {
    /** {@code -Dclairfs.test.seed=N} repeats a run; its seed is printed. */
    private static final int SEED = Integer.getInteger("clairfs.test.seed", 1);

    private static final String FACTOR =
            System.getProperty("clairfs.test.factor", Double.toString(FurtherCases.share()));

    @TempDir
    Path directory;

    @Test
    void everyOrder_isTheLibrarysOwn() throws Exception {
        assertSame(
                RealPython.run("real_orders.py", directory, "torch, numpy", Integer.toString(SEED), FACTOR),
                FurtherCases.of(1000));
    }

    @Test
    void partialLocal_isTheListingOfTheDocs() throws Exception {
        String listing = Path.of("../docs/ORDERS.md").toAbsolutePath().toString();
        assertSame(RealPython.run("partial_local.py", directory, "numpy", listing, Integer.toString(SEED)), 400);
    }

    @Test
    void dlio_isTheOrderOfItsSteps() throws Exception {
        assertSame(RealPython.run("dlio.py", directory, "numpy", "cases", Integer.toString(SEED), "150"), 400);
    }

    private static void assertSame(List<String> lines, int least) throws Exception {
        System.out.println("RealOrdersTest: seed " + SEED);
        List<String> different = new ArrayList<>();
        for (String line : lines) {
            int tab = line.indexOf('\t');
            String spec = line.substring(0, tab);
            String digest = OrderSpec.parse(spec).digest().toString();
            if (!digest.equals(line.substring(tab + 1))) {
                different.add(spec);
            }
        }
        System.out.println("RealOrdersTest: " + lines.size() + " orders compared");
        assertThat(lines).hasSizeGreaterThan(least);
        assertThat(different).as("of " + lines.size() + " orders; seed " + SEED).isEmpty();
    }
}
