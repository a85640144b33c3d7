package io.clairfs.cache.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.spec.OrderSpec;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.function.ThrowingConsumer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** The vectors in resources/golden, recorded from the frameworks themselves; each file names its library and version. */
public final class Golden {
    private Golden() {}

    /** The vectors of one file. */
    public static JsonNode file(String name) {
        try (InputStream in = Golden.class.getResourceAsStream("/golden/" + name + ".json")) {
            return new ObjectMapper().readTree(in);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** One test for each element of {@code cases}; {@code check} has to know all of them. */
    static Stream<DynamicTest> tests(JsonNode cases, ThrowingConsumer<JsonNode> check) {
        assertThat(cases.size()).isPositive();
        return IntStream.range(0, cases.size()).mapToObj(i -> {
            String text = cases.get(i).toString();
            String title = i + " " + text.substring(0, Math.min(110, text.length()));
            return DynamicTest.dynamicTest(title, () -> check.accept(cases.get(i)));
        });
    }

    /** The order that {@code line} describes. */
    static OrderSpec order(String line) throws InvalidSpecException {
        return OrderSpec.parse(line);
    }

    static void assertOrder(JsonNode expected, OrderSpec actual) {
        assertThat(actual.digest())
                .isEqualTo(new OrderDigest(
                        expected.get("len").asInt(),
                        expected.get("sha256_le_i64").asString()));
        assertEnds(expected, actual.indices());
    }

    static void assertOrder(JsonNode expected, int[] actual) {
        assertThat(OrderDigest.of(EpochOrder.of(actual), 0))
                .isEqualTo(new OrderDigest(
                        expected.get("len").asInt(),
                        expected.get("sha256_le_i64").asString()));
        assertEnds(expected, actual);
    }

    private static void assertEnds(JsonNode expected, int[] actual) {
        if (expected.has("full")) {
            assertThat(actual).containsExactly(ints(expected.get("full")));
        } else {
            assertThat(IntStream.of(actual).limit(8)).containsExactly(boxed(expected.get("first8")));
            assertThat(IntStream.of(actual).skip(actual.length - 8)).containsExactly(boxed(expected.get("last8")));
        }
    }

    static int[] ints(JsonNode array) {
        int[] values = new int[array.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = array.get(i).asInt();
        }
        return values;
    }

    private static Integer[] boxed(JsonNode array) {
        return IntStream.of(ints(array)).boxed().toArray(Integer[]::new);
    }

    /** The texts of an array. */
    public static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(text.asString()));
        return texts;
    }

    /** Flattens one level. */
    static int[] joined(JsonNode arrays) {
        List<Integer> joined = new ArrayList<>();
        arrays.forEach(array -> array.forEach(value -> joined.add(value.asInt())));
        return joined.stream().mapToInt(Integer::intValue).toArray();
    }

    /** A number, or the text that stands for one beyond 2^53. */
    static String number(JsonNode value) {
        return value.asString();
    }
}
