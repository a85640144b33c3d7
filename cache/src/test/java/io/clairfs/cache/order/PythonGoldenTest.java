package io.clairfs.cache.order;

import static io.clairfs.cache.order.Golden.assertOrder;
import static io.clairfs.cache.order.Golden.number;
import static io.clairfs.cache.order.Golden.order;
import static io.clairfs.cache.order.Golden.tests;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.python.PythonRandom;
import io.clairfs.cache.order.python.PythonSeed;
import java.math.BigInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;

/** The orders that CPython's random makes. */
class PythonGoldenTest {
    @TestFactory
    Stream<DynamicTest> random() {
        return tests(Golden.file("python_random").get("cases"), c -> {
            String spec = "sampler=python-random samples=" + (c.has("n") ? c.get("n") : "0") + " seed=";
            switch (c.get("kind").asString()) {
                case "words" -> assertWords(c);
                case "getrandbits" -> assertBits(c);
                case "shuffle" -> assertOrder(c.get("order"), order(spec + number(c.get("seed"))));
                case "shuffle_str_seed" ->
                    assertOrder(
                            c.get("order"), order(spec + "'" + c.get("seed_str").asString() + "'"));
                case "shuffle_float_seed" -> {
                    assertThat(PythonSeed.ofFloat(c.get("seed_float").asDouble()))
                            .isEqualTo(new BigInteger(number(c.get("hash"))));
                    assertOrder(c.get("order"), order(spec + c.get("seed_float")));
                }
                case "sample" -> assertSample(c, spec + number(c.get("seed")) + " method=sample");
                case "consecutive_shuffles" -> {
                    for (int e = 0; e < c.get("consecutive").size(); e++) {
                        assertOrder(c.get("consecutive").get(e), order(spec + number(c.get("seed")) + " epoch=" + e));
                    }
                }
                default -> throw new AssertionError("unknown vector: " + c);
            }
        });
    }

    private static void assertWords(JsonNode c) {
        PythonRandom random = new PythonRandom(new BigInteger(number(c.get("seed"))));
        String[] words = new String[632];
        for (int i = 0; i < words.length; i++) {
            words[i] = random.bits(32).toString();
        }
        for (int i = 0; i < 8; i++) {
            assertThat(words[i]).isEqualTo(number(c.get("first8_u32").get(i)));
        }
        for (int i = 0; i < 12; i++) {
            assertThat(words[620 + i]).isEqualTo(number(c.get("at_620_632_u32").get(i)));
        }
    }

    private static void assertSample(JsonNode c, String spec) throws InvalidSpecException {
        PythonRandom random = new PythonRandom(new BigInteger(number(c.get("seed"))));
        int[] sample = random.sample(c.get("n").asInt(), c.get("k").asInt());
        assertOrder(c.get("order"), sample);
        if (c.get("k").equals(c.get("n"))) {
            assertOrder(c.get("order"), order(spec));
        }
    }

    private static void assertBits(JsonNode c) {
        PythonRandom random = new PythonRandom(new BigInteger(number(c.get("seed"))));
        for (JsonNode call : c.get("calls")) {
            assertThat(random.bits(call.get(0).asInt())).isEqualTo(new BigInteger(number(call.get(1))));
        }
    }
}
