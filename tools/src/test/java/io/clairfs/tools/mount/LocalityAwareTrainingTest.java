package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.spec.OrderSpec;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Locality-aware orders, as the command prints them, train the network that the base order trains. */
@Timeout(1200)
final class LocalityAwareTrainingTest {
    private static final int SAMPLES = 300;
    private static final int EPOCHS = 2;
    private static final int WORLD = 4;
    private static final int BATCH = 8;

    @TempDir
    Path directory;

    private static Ended clairfs(String... arguments) throws Exception {
        return Ended.run(Clairfs.command(arguments), Map.of());
    }

    @Test
    void order_is_printed() throws Exception {
        String printed = clairfs(
                        "order",
                        "--sampler",
                        "locality-aware",
                        "--batch",
                        "32",
                        "--world",
                        "16",
                        "--rank",
                        "3",
                        "--samples",
                        "5000",
                        "per_node=4",
                        "cached=0.8")
                .succeeded();
        OrderSpec expected =
                OrderSpec.parse("sampler=locality-aware samples=5000 batch=32 world=16 rank=3 per_node=4 cached=0.8");
        assertThat(printed.lines().mapToInt(Integer::parseInt).toArray()).isEqualTo(expected.indices());
        assertThat(clairfs("order", "--sampler", "locality-aware", "--samples", "5000")
                        .complainedWith(1))
                .contains("locality-aware needs batch");
    }

    private static List<String> specs(String keys) {
        List<String> specs = new ArrayList<>();
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            for (int rank = 0; rank < WORLD; rank++) {
                specs.add("samples=" + SAMPLES + " world=" + WORLD + " batch=" + BATCH + " epoch=" + epoch + " rank="
                        + rank + " " + keys);
            }
        }
        return specs;
    }

    /** Yang and Cong, theorem 1, with DistributedDataParallel. The last batch of an epoch is incomplete. */
    @Test
    void training_ends_with_the_weights_of_the_base_order() throws Exception {
        Requirements.torch();
        List<String> specs = new ArrayList<>(specs("sampler=torch-distributed seed=3"));
        specs.addAll(specs("sampler=locality-aware seed=3"));
        specs.addAll(specs("sampler=locality-aware seed=3 per_node=2 cached=0.5"));
        specs.addAll(specs("sampler=torch-distributed seed=40"));
        Path lines = Files.write(directory.resolve("specs"), specs);
        String orders = clairfs("order", "--from", lines.toString()).succeeded();
        assertThat(orders.lines().collect(Collectors.toSet()))
                .as("orders, all different")
                .hasSize(specs.size());

        Path file = Files.writeString(directory.resolve("orders"), orders);
        JsonNode trained = new JsonMapper().readTree(python(file));
        System.out.println("weights apart from those of the base order: " + trained);
        assertThat(trained.path("steps").asInt()).isEqualTo(20);
        assertThat(trained.path("apart").path(0).asDouble()).isLessThan(1e-9);
        assertThat(trained.path("apart").path(1).asDouble()).isLessThan(1e-9);
        assertThat(trained.path("apart").path(2).asDouble())
                .as("of another seed")
                .isGreaterThan(1e-3);
    }

    private String python(Path orders) throws Exception {
        try (InputStream script = LocalityAwareTrainingTest.class.getResourceAsStream("train_ddp.py")) {
            List<String> command = new ArrayList<>(
                    List.of("/usr/bin/python3", "-c", new String(script.readAllBytes(), StandardCharsets.UTF_8)));
            for (Object argument : List.of(orders, SAMPLES, EPOCHS, WORLD, BATCH, directory)) {
                command.add(argument.toString());
            }
            return Ended.run(command, Map.of("TMPDIR", directory.toString())).succeeded();
        }
    }
}
