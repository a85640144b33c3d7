package io.clairfs.tools.simulate.scenario;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Random scenarios of all kinds: any mixture of fast and slow sources, links, memories and disks, with room for a hundredth of a node's share
 * of the dataset up to all of it on each node.
 */
public final class RandomScenarios {
    private RandomScenarios() {}

    /** The tiers of each node. */
    private enum Tiers {
        NONE,
        MEMORY,
        SSD,
        SLOW_SSD,
        MEMORY_AND_SSD,
        MEMORY_AND_SLOW_SSD,
        MEMORY_SSD_AND_DISK
    }

    /** The scenario of this number; a run reads about {@code reads} samples at most. */
    public static Scenario of(long seed, int number, int reads) {
        Random random = new Random(new SplittableRandom(1_000_003 * seed + number).nextLong());
        int nodes = 1 + random.nextInt(16);
        int epochs = 2 + random.nextInt(9);
        int batch = 1 << random.nextInt(6);
        int iterations = Math.max(4, (int) (reads * between(random, 0.2, 1) / epochs / nodes / batch));
        int samples = nodes * batch * iterations + random.nextInt(nodes * batch);
        double mean = rounded(between(random, 0.005, 20));
        double stddev = random.nextInt(3) == 0 ? 0 : rounded(mean * random.nextDouble());
        double share = samples * mean / nodes;
        double compute = rounded(between(random, 20, 2_000));
        Tiers tiers = Tiers.values()[number % Tiers.values().length];
        return new Scenario(
                "sweep-" + seed + "-" + number,
                nodes,
                compute,
                rounded(between(random, 200, 5_000)),
                rounded(between(random, 50, 10_000)),
                new Scenario.Staging(
                        rounded(mean * batch * between(random, 2, 50)), 1 + random.nextInt(16), null, null),
                classes(tiers, random, share, nodes),
                null,
                source(random, nodes, compute),
                new Scenario.Dataset(samples, mean, stddev),
                epochs,
                batch,
                random.nextBoolean(),
                random.nextInt(1_000_000),
                random.nextInt(4) == 0 ? Scenario.Sync.NONE : Scenario.Sync.BULK,
                null);
    }

    private static List<Scenario.Device> classes(Tiers tiers, Random random, double share, int nodes) {
        List<Scenario.Device> classes = new ArrayList<>();
        switch (tiers) {
            case NONE -> {}
            case MEMORY -> classes.add(memory(random, share, nodes));
            case SSD -> classes.add(ssd(random, share, nodes));
            case SLOW_SSD -> classes.add(slow("ssd", random, share, nodes));
            case MEMORY_AND_SSD -> {
                classes.add(memory(random, share, nodes));
                classes.add(ssd(random, share, nodes));
            }
            case MEMORY_AND_SLOW_SSD -> {
                classes.add(memory(random, share, nodes));
                classes.add(slow("ssd", random, share, nodes));
            }
            case MEMORY_SSD_AND_DISK -> {
                classes.add(memory(random, share, nodes));
                classes.add(ssd(random, share, nodes));
                classes.add(slow("disk", random, share, nodes));
            }
        }
        return classes;
    }

    private static Scenario.Device memory(Random random, double share, int nodes) {
        return device("memory", random, share, nodes, Rate.of(rounded(between(random, 2_000, 50_000))), null);
    }

    private static Scenario.Device ssd(Random random, double share, int nodes) {
        double one = between(random, 200, 1_500);
        Rate read = new Rate(new TreeMap<>(Map.of(1, rounded(one), 4, rounded(one * between(random, 1, 4)))));
        return device("ssd", random, share, nodes, read, Rate.of(rounded(between(random, 100, 2_000))));
    }

    private static Scenario.Device slow(String name, Random random, double share, int nodes) {
        return device(name, random, share, nodes, Rate.of(100), null);
    }

    private static Scenario.Device device(
            String name, Random random, double share, int nodes, Rate read, @Nullable Rate write) {
        double capacity = share * between(random, 0.01, 1.5 * nodes);
        return new Scenario.Device(name, rounded(capacity), 1 + random.nextInt(8), read, write);
    }

    /** A source that is between ten times too slow and three times faster than the nodes compute; more nodes may get more of it. */
    private static Rate source(Random random, int nodes, double compute) {
        double all = nodes * compute * between(random, 0.1, 3);
        if (nodes == 1 || random.nextBoolean()) {
            return Rate.of(rounded(all));
        }
        return new Rate(Map.of(1, rounded(all * between(random, 1.0 / nodes, 1)), nodes, rounded(all)));
    }

    /** Log-uniform. */
    private static double between(Random random, double least, double most) {
        return Math.exp(Math.log(least) + random.nextDouble() * (Math.log(most) - Math.log(least)));
    }

    /** To three digits, as a person would write it. */
    private static double rounded(double value) {
        return BigDecimal.valueOf(value).round(new MathContext(3)).doubleValue();
    }
}
