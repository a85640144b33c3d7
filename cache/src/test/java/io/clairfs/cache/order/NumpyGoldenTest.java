package io.clairfs.cache.order;

import static io.clairfs.cache.order.Golden.assertOrder;
import static io.clairfs.cache.order.Golden.number;
import static io.clairfs.cache.order.Golden.order;
import static io.clairfs.cache.order.Golden.tests;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.python.NumpySeed;
import io.clairfs.cache.order.python.NumpyShuffle;
import io.clairfs.cache.order.python.PermutationSampler;
import io.clairfs.cache.order.random.Mt19937;
import io.clairfs.cache.order.random.Pcg64;
import io.clairfs.cache.order.random.SeedSequence;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;

/** The orders that numpy makes, for itself and for HF datasets and MosaicML streaming. */
class NumpyGoldenTest {
    @TestFactory
    Stream<DynamicTest> legacy() {
        return tests(Golden.file("numpy_legacy").get("cases"), c -> {
            if (c.get("kind").asString().equals("raw")) {
                Mt19937 words = seed(c).legacy();
                c.get("u32_first8")
                        .forEach(w -> assertThat(words.next32() & 0xffffffffL).isEqualTo(w.asLong()));
            } else {
                assertPermutation("numpy-legacy", c);
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> generator() {
        return tests(Golden.file("numpy_generator").get("cases"), c -> {
            switch (c.get("kind").asString()) {
                case "internals" -> assertInternals(c);
                case "integers_lemire" -> {
                    Pcg64 g = seed(c).generator();
                    c.get("calls").forEach(call -> assertIntegers(g, number(call.get("low")), call));
                }
                case "integers_scalar_lemire" -> assertIntegers(seed(c).generator(), "0", c);
                case "spawned" -> assertSpawned(c);
                default -> assertPermutation("numpy-generator", c);
            }
        });
    }

    /** Kinds: permutation, shuffle, a list as seed, and seeds that numpy refuses. */
    private static void assertPermutation(String sampler, JsonNode c) throws InvalidSpecException {
        String seed = c.has("seed_array") ? c.get("seed_array").toString() : number(c.get("seed"));
        if (c.has("error")) {
            assertThatThrownBy(() -> order("sampler=" + sampler + " samples=5 seed=" + seed))
                    .isInstanceOf(InvalidSpecException.class)
                    .hasMessageStartingWith("seed=");
        } else {
            assertOrder(c.get("order"), order("sampler=" + sampler + " samples=" + c.get("n") + " seed=" + seed));
        }
    }

    private static NumpySeed seed(JsonNode c) throws InvalidSpecException {
        return NumpySeed.read(Keys.parse("seed=" + number(c.get("seed"))));
    }

    private static void assertInternals(JsonNode c) throws InvalidSpecException {
        SeedSequence sequence = new SeedSequence(seed(c).values());
        assertThat(unsigned(sequence.pool())).isEqualTo(Golden.texts(c.get("seedseq_pool_u32")));
        List<String> words = new ArrayList<>();
        for (long word : sequence.longs(4)) {
            words.add(Long.toUnsignedString(word));
        }
        assertThat(words).isEqualTo(Golden.texts(c.get("generate_state_4_u64")));
        long[] state = seed(c).generator().state();
        assertThat(number(c.get("pcg_state")))
                .isEqualTo(wide(state[0], state[1]).toString());
        assertThat(number(c.get("pcg_inc"))).isEqualTo(wide(state[2], state[3]).toString());
        Pcg64 raw = seed(c).generator();
        c.get("raw_u64_first4")
                .forEach(w -> assertThat(Long.toUnsignedString(raw.next64())).isEqualTo(number(w)));
        Pcg64 half = seed(c).generator();
        c.get("u32_first8")
                .forEach(
                        w -> assertThat(Integer.toUnsignedString(half.next32())).isEqualTo(number(w)));
    }

    private static List<String> unsigned(int[] words) {
        List<String> texts = new ArrayList<>();
        for (int word : words) {
            texts.add(Integer.toUnsignedString(word));
        }
        return texts;
    }

    private static BigInteger wide(long high, long low) {
        return new BigInteger(Long.toUnsignedString(high))
                .shiftLeft(64)
                .add(new BigInteger(Long.toUnsignedString(low)));
    }

    private static void assertIntegers(Pcg64 g, String low, JsonNode call) {
        long from = new BigInteger(low).longValue();
        long to = new BigInteger(number(call.get("high"))).longValue();
        call.get("out")
                .forEach(expected -> assertThat(Long.toString(NumpyShuffle.integer(g, from, to)))
                        .isEqualTo(number(expected)));
    }

    private static void assertSpawned(JsonNode c) throws InvalidSpecException {
        SeedSequence parent = new SeedSequence(seed(c).values());
        for (int k = 0; k < c.get("children").size(); k++) {
            JsonNode expected = c.get("children").get(k);
            int[] items = PermutationSampler.identity(expected.get("len").asInt());
            new NumpyShuffle(new Pcg64(parent.child(k))).shuffle(items);
            assertOrder(expected, items);
        }
    }

    @TestFactory
    Stream<DynamicTest> hfDatasets() {
        return tests(Golden.file("hf_datasets").get("cases"), c -> {
            String spec = "sampler=hf-datasets samples=" + c.get("n") + " seed=" + number(c.get("seed"));
            if (c.get("kind").asString().equals("Dataset.shuffle(seed)")) {
                assertOrder(c.get("order"), order(spec));
                assertOrder(c.get("order"), order(spec + " epoch=3"));
            } else {
                assertOrder(c.get("order"), order(spec + " buffer_size=" + c.get("buffer_size")));
            }
        });
    }

    /**
     * Its order without blocks is one permutation of all samples, seeded with seed + epoch. The others (py1s, py2s, py1br,
     * py1e) order shards of many samples, which a mount of single files never sees, and are left out.
     */
    @TestFactory
    Stream<DynamicTest> mosaicNaive() {
        List<JsonNode> naive = new ArrayList<>();
        Golden.file("mosaicml_streaming").get("cases").forEach(c -> {
            if (c.get("algo").asString().equals("naive")) {
                naive.add(c);
            }
        });
        assertThat(naive).isNotEmpty();
        return naive.stream()
                .map(c -> DynamicTest.dynamicTest(c.toString().substring(0, 90), () -> {
                    long samples = 0;
                    for (JsonNode size : c.get("shard_sizes")) {
                        samples += size.asLong();
                    }
                    assertOrder(
                            c.get("order"),
                            order("sampler=numpy-generator reseed_each_epoch=true samples=" + samples + " seed="
                                    + number(c.get("seed")) + " epoch=" + c.get("epoch")));
                }));
    }
}
