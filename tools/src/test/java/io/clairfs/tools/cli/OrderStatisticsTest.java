package io.clairfs.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.spec.Samplers;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What {@code clairfs order --stats} counts and says. */
final class OrderStatisticsTest {
    @TempDir
    Path directory;

    @Command
    private static final class Ordering {
        @Mixin
        private final StatisticsOptions statistics = new StatisticsOptions();
    }

    private static OrderStatistics of(String line, int samples, int world, int ranksOfNode, int epochs)
            throws InvalidSpecException {
        Sampler sampler = Samplers.create(samples, Keys.parse(line + " world=" + world));
        OrderStatistics statistics = new OrderStatistics(samples, world, ranksOfNode);
        for (int epoch = 0; epoch < epochs; epoch++) {
            statistics.add(sampler);
        }
        return statistics;
    }

    private static String said(List<String> pairs, String... options) throws Exception {
        Ordering ordering = new Ordering();
        var _ = new CommandLine(ordering).parseArgs(options);
        StringWriter out = new StringWriter();
        ordering.statistics.print(pairs, null, out);
        return out.toString();
    }

    /** Of the samples that are sent, one in as many as there are nodes stays by chance. */
    @ParameterizedTest
    @CsvSource({"0, 0", "0.1, 0.075", "0.3, 0.225", "1, 0.75"})
    void movedShare_isTheExchangedFractionLessThoseThatStay(String exchange, double expected)
            throws InvalidSpecException {
        OrderStatistics statistics = of("sampler=partial-local seed=3 exchange=" + exchange, 20_000, 4, 1, 30);
        assertThat(statistics.movedShare()).isEqualTo(expected, within(0.002));
        assertThat(statistics.movedPerNode()).isEqualTo(5_000 * expected, within(10.0));
    }

    @ParameterizedTest
    @CsvSource({"4, 0.1, 30, 0.640", "4, 0, 30, 0.25", "8, 0.5, 20, 0.743"})
    void seenShare_isThatOfTheFormula(int nodes, String exchange, int epochs, double expected)
            throws InvalidSpecException {
        double formula = OrderStatistics.expectedSeenShare(nodes, Double.parseDouble(exchange), epochs);
        assertThat(formula).isEqualTo(expected, within(0.001));
        assertThat(of("sampler=partial-local exchange=" + exchange, 20_000, nodes, 1, epochs)
                        .seenShare())
                .isEqualTo(formula, within(0.01));
    }

    @Test
    void ranksOfANode_countAsOne() throws InvalidSpecException {
        OrderStatistics statistics = of("sampler=torch-distributed", 8_000, 8, 4, 5);
        assertThat(statistics.nodes()).isEqualTo(2);
        assertThat(statistics.movedShare()).isEqualTo(0.5, within(0.02));
        assertThat(of("sampler=torch-distributed", 8_000, 8, 8, 5).movedShare()).isZero();
    }

    @Test
    void skew_isTheLargestDistanceOfAShare() throws InvalidSpecException {
        OrderStatistics statistics = new OrderStatistics(8, 2, 1);
        statistics.add(Samplers.create(8, Keys.parse("sampler=torch-distributed shuffle=false world=2")));
        // Node 0 reads the even samples: three of its four are of class 0, and four of eight in the dataset.
        OrderStatistics.Skew[] skews = statistics.skews(new int[] {0, 1, 0, 0, 0, 1, 1, 1}, 2);
        assertThat(skews[0]).isEqualTo(new OrderStatistics.Skew(0, 0, 0.75, 0.5));
        assertThat(skews[1]).isEqualTo(new OrderStatistics.Skew(1, 0, 0.25, 0.5));
    }

    @Test
    void print_withADataset_showsItsClasses() throws Exception {
        for (int i = 0; i < 40; i++) {
            Path of = Files.createDirectories(directory.resolve(i < 30 ? "cat" : "dog"));
            Files.writeString(of.resolve(i + ".jpg"), "sample");
        }
        assertThat(said(List.of("sampler=sequential"), "--stats", "--dataset=" + directory))
                .isEqualTo("""
                        exchanged per epoch: 0.0 samples for each of 1 nodes, 0.00 % of the dataset
                        seen by a node after 10 epochs: 1.000 of the dataset, counted on 1 nodes
                        class skew in epoch 9, of 2 classes: the nodes that differ most, each with the class that does
                          node 0: 0.0000 (cat: 0.7500 of its samples, 0.7500 of the dataset)
                        """);
        assertThatThrownBy(() -> said(List.of("samples=41"), "--stats", "--dataset=" + directory))
                .isInstanceOf(CommandFailedException.class)
                .hasMessageContaining("has 40 samples, not 41");
    }

    @Test
    void print_withoutADataset_saysThatClassesAreNotKnown() throws Exception {
        String said = said(
                List.of("samples=1000", "sampler=partial-local", "world=8", "per_node=2", "exchange=0.1"), "--stats");
        assertThat(said)
                .contains("for each of 4 nodes")
                .contains("by 1 - (1 - 1/M) (1 - Q/M)^(e-1)")
                .endsWith("class skew: not known without the files; give --dataset DIR\n");
    }

    @Test
    void optionsThatDoNotGoTogether_areWrongUsage() {
        assertThat(Main.run("order", "--samples=3", "--epochs=2")).isEqualTo(Main.WRONG_USAGE);
        assertThat(Main.run("order", "--samples=3", "--dataset=.")).isEqualTo(Main.WRONG_USAGE);
        assertThat(Main.run("order", "--samples=3", "--stats", "--epochs=1-2")).isEqualTo(Main.FAILED);
    }
}
