package io.clairfs.cache.order;

import static io.clairfs.cache.order.Golden.number;
import static io.clairfs.cache.order.Golden.order;
import static io.clairfs.cache.order.Golden.tests;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.clairfs.cache.order.spec.OrderSpec;
import io.clairfs.cache.order.torch.TorchGenerator;
import io.clairfs.cache.order.torch.TorchRandperm;
import io.clairfs.cache.order.torch.TorchVersion;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.stream.Stream;
import java.util.zip.Inflater;
import java.util.zip.InflaterOutputStream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** torch's generator word by word, its state, and its permutations of more than 200 million. */
class TorchGeneratorGoldenTest {
    private static final long HEAP_FOR_LARGE = 2L << 30;

    @TempDir
    Path directory;

    @TestFactory
    Stream<DynamicTest> words() {
        return tests(Golden.file("torch_mt19937").get("cases"), c -> {
            String seed = number(c.get("seed"));
            if (c.has("error")) {
                assertThatThrownBy(() -> order("sampler=torch-randperm samples=10 seed=" + seed))
                        .isInstanceOf(InvalidSpecException.class)
                        .hasMessageContaining("out of range");
            } else if (c.get("seed").isNull()) {
                Golden.assertOrder(
                        c.get("randperm10"),
                        order("sampler=torch-randperm samples=10 seed=" + number(c.get("initial_seed"))));
            } else {
                assertWords(c, TorchGenerator.seeded(new BigInteger(seed)));
            }
        });
    }

    private static void assertWords(JsonNode c, TorchGenerator fresh) throws Exception {
        TorchGenerator g = fresh.copy();
        ByteBuffer all = ByteBuffer.allocate(1600 * 4).order(ByteOrder.LITTLE_ENDIAN);
        long[] words = new long[1600];
        for (int i = 0; i < words.length; i++) {
            int word = g.random();
            words[i] = word & 0xffffffffL;
            all.putInt(word);
        }
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(all.array());
        assertThat(HexFormat.of().formatHex(digest))
                .isEqualTo(c.get("sha256_first1600_u32_le").asString());
        for (int i = 0; i < 8; i++) {
            assertThat(words[i]).isEqualTo(c.get("random_first8_u32").get(i).asLong());
        }
        for (int i = 0; i < 12; i++) {
            assertThat(words[620 + i])
                    .isEqualTo(c.get("random_at_620_632_u32").get(i).asLong());
        }
        TorchGenerator wide = fresh.copy();
        TorchGenerator positive = fresh.copy();
        for (int i = 0; i < 4; i++) {
            assertThat(Long.toUnsignedString(wide.random64()))
                    .isEqualTo(number(c.get("random64_first4_u64").get(i)));
            assertThat(Long.toString(positive.int63()))
                    .isEqualTo(number(c.get("random_int64_noargs_first4").get(i)));
        }
    }

    @TestFactory
    Stream<DynamicTest> states() {
        return tests(Golden.file("torch_mt19937").get("state_cases"), c -> {
            byte[] state =
                    inflated(Base64.getDecoder().decode(c.get("state_zlib_b64").asString()));
            assertThat(state).hasSize(c.get("state_len").asInt());
            assertNextPermutation(c, TorchGenerator.ofState(state));

            TorchGenerator same = TorchGenerator.seeded(new BigInteger(number(c.get("seed"))));
            same.skip(c.get("draws_u32").asLong());
            assertNextPermutation(c, same);

            Path file = directory.resolve("state-" + c.get("draws_u32"));
            Files.write(file, state);
            String keys = "sampler=torch-state seeded=generator generator=sampler samples=10 state=";
            Golden.assertOrder(c.get("next_randperm10"), order(keys + file));
            Golden.assertOrder(
                    c.get("next_randperm10"), order(keys + Base64.getEncoder().encodeToString(state)));
        });
    }

    private static void assertNextPermutation(JsonNode c, TorchGenerator g) {
        Golden.assertOrder(c.get("next_randperm10"), TorchRandperm.permutation(10, g, TorchVersion.NEWEST));
    }

    private static byte[] inflated(byte[] zlib) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (InflaterOutputStream inflater = new InflaterOutputStream(out, new Inflater())) {
            inflater.write(zlib);
        }
        return out.toByteArray();
    }

    /** Permutations around torch's threshold for its other algorithm; the real ones take 860 MB and some 20 s each. */
    @TestFactory
    Stream<DynamicTest> largePermutations() {
        return tests(Golden.file("torch_randperm_large_branch").get("cases"), c -> {
            int n = c.get("n").asInt();
            if (n >= TorchRandperm.LARGE - 1) {
                assumeTrue(Boolean.getBoolean("clairfs.test.large"), "-Dclairfs.test.large=true runs it");
                assumeTrue(Runtime.getRuntime().maxMemory() >= HEAP_FOR_LARGE, "needs 2 GiB of heap");
            }
            if (c.has("emulated")) {
                int[] r = new int[n];
                TorchRandperm.fillLarge(r, TorchGenerator.seeded(c.get("seed").asLong()));
                Golden.assertOrder(c.get("order"), r);
            } else {
                String line = "sampler=torch-randperm samples=" + n + " seed=" + c.get("seed");
                OrderSpec old = order(line + " torch=2.5");
                assertThat(old.digest().sha256())
                        .isEqualTo(c.get("order").get("sha256_le_i64").asString());
                if (n < TorchRandperm.LARGE) {
                    assertThat(order(line).digest()).isEqualTo(old.digest());
                }
            }
        });
    }
}
