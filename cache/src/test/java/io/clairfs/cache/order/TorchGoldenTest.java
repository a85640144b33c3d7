package io.clairfs.cache.order;

import static io.clairfs.cache.order.Golden.assertOrder;
import static io.clairfs.cache.order.Golden.ints;
import static io.clairfs.cache.order.Golden.joined;
import static io.clairfs.cache.order.Golden.number;
import static io.clairfs.cache.order.Golden.order;
import static io.clairfs.cache.order.Golden.tests;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.spec.OrderSpec;
import io.clairfs.cache.order.torch.TorchGenerator;
import io.clairfs.cache.order.torch.TorchLoader;
import io.clairfs.cache.order.torch.TorchLoaderRun;
import io.clairfs.cache.order.torch.TorchRandperm;
import io.clairfs.cache.order.torch.TorchVersion;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;

/** The orders of torch, torchdata and accelerate, against vectors recorded from them. */
class TorchGoldenTest {
    @TestFactory
    Stream<DynamicTest> randperm() {
        return tests(Golden.file("torch_randperm").get("cases"), c -> {
            String spec = "sampler=torch-randperm samples=" + c.get("n") + " seed=" + number(c.get("seed"));
            if (c.has("consecutive")) {
                for (int e = 0; e < c.get("consecutive").size(); e++) {
                    assertOrder(c.get("consecutive").get(e), order(spec + " epoch=" + e));
                }
            } else {
                assertOrder(c.get("order"), order(spec));
                assertOrder(c.get("order"), order(spec + " torch=1.13.1"));
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> distributedSampler() {
        return tests(Golden.file("torch_distributed_sampler").get("cases"), c -> {
            String spec = "samples=" + c.get("n") + " world=" + c.get("world") + " seed=" + number(c.get("seed"));
            if (c.has("error")) {
                assertThatThrownBy(() -> order(spec + " epoch=" + c.get("epoch")))
                        .isInstanceOf(InvalidSpecException.class)
                        .hasMessageContaining("out of range");
            } else if (c.has("epochs_batches")) {
                for (int e = 0; e < c.get("epochs_batches").size(); e++) {
                    String line = spec + " epoch=" + e + " rank=" + c.get("rank") + " batch=4";
                    assertThat(order(line).indices())
                            .containsExactly(joined(c.get("epochs_batches").get(e)));
                }
            } else {
                for (var rank : c.get("ranks").properties()) {
                    String line = spec + " epoch=" + c.get("epoch") + " shuffle=" + c.get("shuffle") + " drop_last="
                            + c.get("drop_last") + " rank=" + rank.getKey();
                    assertOrder(rank.getValue(), order(line));
                }
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> randomSampler() {
        return tests(Golden.file("torch_random_sampler").get("cases"), c -> {
            switch (c.get("kind").asString()) {
                case "RandomSampler(generator=None)" -> assertDefaultSampler(c);
                case "RandomSampler(generator=g)" -> assertEpochs(c.get("epochs"), ofSampler(c));
                case "RandomSampler(num_samples, no replacement)" ->
                    assertEpochs(c.get("epochs"), ofSampler(c) + " num_samples=" + c.get("num_samples"));
                case "RandomSampler(replacement=True)" -> assertReplacement(c);
                case "RandomSampler(n=0)" ->
                    assertThatThrownBy(() -> order("sampler=torch-generator samples=0"))
                            .isInstanceOf(InvalidSpecException.class)
                            .hasMessageContaining("empty");
                case "SubsetRandomSampler" -> assertSubset(c);
                case "random_split" -> assertSplit(c);
                default -> throw new AssertionError("unknown vector: " + c);
            }
        });
    }

    /** One vector has 2^31 samples, more than a dataset here: it is checked below the spec. */
    private static void assertReplacement(JsonNode c) throws InvalidSpecException {
        int count = c.get("num_samples").asInt();
        if (c.get("n").asLong() < Integer.MAX_VALUE) {
            assertEpochs(c.get("epochs"), ofSampler(c) + " replacement=true num_samples=" + count);
            return;
        }
        TorchGenerator g = TorchGenerator.seeded(c.get("generator_seed").asLong());
        for (JsonNode expected : c.get("epochs")) {
            assertOrder(expected, TorchRandperm.integers(c.get("n").asLong(), count, g, new TorchVersion(1, 13)));
        }
    }

    private static String ofSampler(JsonNode c) {
        return "sampler=torch-generator generator=sampler samples=" + c.get("n") + " seed="
                + number(c.get("generator_seed"));
    }

    private static void assertEpochs(JsonNode epochs, String spec) throws InvalidSpecException {
        for (int e = 0; e < epochs.size(); e++) {
            assertOrder(epochs.get(e), order(spec + " epoch=" + e));
        }
    }

    /** A bare sampler, without the base seeds of a loader: its own rule is one seed per epoch from the default generator. */
    private static void assertDefaultSampler(JsonNode c) {
        TorchGenerator g = TorchGenerator.seeded(new BigInteger(number(c.get("global_seed"))));
        for (JsonNode expected : c.get("epochs")) {
            TorchGenerator child = TorchGenerator.seeded(g.int63());
            assertOrder(expected, TorchRandperm.permutation(c.get("n").asInt(), child, TorchVersion.NEWEST));
        }
        assertThat(Long.toString(g.int63())).isEqualTo(number(c.get("next_default_random_int64")));
    }

    private static void assertSubset(JsonNode c) {
        int[] indices = ints(c.get("indices"));
        TorchGenerator g = TorchGenerator.seeded(c.get("generator_seed").asLong());
        for (JsonNode expected : c.get("epochs")) {
            int[] places = TorchRandperm.permutation(indices.length, g, TorchVersion.NEWEST);
            assertOrder(expected, Arrays.stream(places).map(p -> indices[p]).toArray());
        }
    }

    private static void assertSplit(JsonNode c) {
        TorchGenerator g = TorchGenerator.seeded(c.get("generator_seed").asLong());
        int[] permutation = TorchRandperm.permutation(c.get("n").asInt(), g, TorchVersion.NEWEST);
        int from = 0;
        for (JsonNode part : c.get("parts")) {
            int to = from + part.get("len").asInt();
            assertOrder(part, Arrays.copyOfRange(permutation, from, to));
            from = to;
        }
        assertThat(from).isEqualTo(permutation.length);
    }

    @TestFactory
    Stream<DynamicTest> dataLoader() {
        return tests(Golden.file("torch_dataloader").get("cases"), c -> {
            String kind = c.get("kind").asString();
            String spec = "samples=" + c.get("n") + " seed=" + number(c.get("seed"));
            if (c.has("batch_size")) {
                spec += " batch=" + c.get("batch_size");
            }
            if (kind.equals("epochs")) {
                assertLoaderEpochs(c, spec);
            } else if (kind.equals("break_after_k_batches")) {
                assertBreak(c, spec + loaderKeys(c));
            } else if (kind.equals("torch_rand_5_between_epochs")) {
                assertEpochs(c.get("epochs"), spec + " sampler=torch-default draws_between=5");
            } else if (kind.equals("batch_size_none")) {
                assertEpochs(c.get("epochs"), spec + " sampler=torch-generator");
            } else if (kind.startsWith("repeat_batch_sampler (ultralytics")) {
                assertEpochs(c.get("epochs"), spec + " sampler=torch-generator endless=true");
            } else if (kind.equals("repeat_batch_sampler with DistributedSampler.set_epoch")) {
                assertEpochs(
                        c.get("epochs"),
                        spec + loaderKeys(c) + " endless=true world=" + c.get("world") + " rank=" + c.get("rank"));
            } else {
                throw new AssertionError("unknown vector: " + c);
            }
        });
    }

    private static String loaderKeys(JsonNode c) {
        String keys = " workers=" + c.get("num_workers");
        if (c.has("drop_last")) {
            keys += " drop_last=" + c.get("drop_last");
        }
        if (c.has("persistent_workers")) {
            keys += " persistent_workers=" + c.get("persistent_workers");
        }
        if (c.has("prefetch_factor") && !c.get("prefetch_factor").isNull()) {
            keys += " prefetch_factor=" + c.get("prefetch_factor");
        }
        return keys;
    }

    private static void assertLoaderEpochs(JsonNode c, String spec) throws InvalidSpecException {
        boolean ofDefault = c.get("seeded").asString().equals("default");
        assertEpochs(
                c.get("epochs"),
                spec + loaderKeys(c) + " sampler=torch-" + c.get("seeded").asString());
        TorchGenerator g = TorchGenerator.seeded(new BigInteger(number(c.get("seed"))));
        TorchGenerator first = g.copy();
        assertThat(Long.toString(first.int63()))
                .isEqualTo(number(c.get("base_seed_after_iter").get(0)));
        TorchLoaderRun run = new TorchLoaderRun(
                TorchLoader.read(c.get("n").asInt(), Keys.parse(spec + loaderKeys(c))),
                ofDefault ? TorchLoaderRun.Holder.NOBODY : TorchLoaderRun.Holder.LOADER,
                g,
                null);
        for (int e = 0; e < c.get("epochs").size(); e++) {
            run.pass();
        }
        assertThat(Long.toString(g.int63()))
                .as("the generator's next number after three epochs that were passed over")
                .isEqualTo(number(c.get("next_random_int64")));
    }

    private static void assertBreak(JsonNode c, String spec) throws InvalidSpecException {
        String broken = spec + " sampler=torch-generator break_after=" + c.get("k") + ",all";
        assertThat(order(broken).indices()).containsExactly(ints(c.get("epoch0_seen")));
        assertOrder(c.get("epoch1"), order(broken + " epoch=1"));
    }

    @TestFactory
    Stream<DynamicTest> statefulDataLoader() {
        return tests(
                Golden.file("torchdata_stateful_dataloader").get("cases"),
                c -> assertEpochs(
                        c.get("epochs"),
                        "sampler=torchdata-stateful samples=" + c.get("n") + " seed=" + number(c.get("seed"))
                                + " batch="
                                + c.get("batch_size") + " seeded="
                                + c.get("seeded").asString() + loaderKeys(c)));
    }

    @TestFactory
    Stream<DynamicTest> accelerate() {
        return tests(Golden.file("accelerate_seedable").get("cases"), c -> {
            if (c.get("kind").asString().equals("SeedableRandomSampler")) {
                assertEpochs(
                        c.get("epochs"), "sampler=accelerate samples=" + c.get("n") + " seed=" + number(c.get("seed")));
                return;
            }
            assertThat(c.get("kind").asString()).isEqualTo("BatchSamplerShard over the identity order");
            String spec = "sampler=accelerate shuffle=false samples=" + c.get("n") + " batch=" + c.get("batch_size")
                    + " world=" + c.get("processes") + " drop_last=" + c.get("drop_last") + " even_batches="
                    + c.get("even_batches") + " split_batches=" + c.get("split_batches");
            for (int rank = 0; rank < c.get("processes").asInt(); rank++) {
                assertThat(order(spec + " rank=" + rank).indices())
                        .containsExactly(joined(c.get("batches_by_process").get(rank)));
            }
        });
    }

    /** What the workers opened: batch b is worker b mod W's, each in its order; the main process is worker -1. */
    @TestFactory
    Stream<DynamicTest> workerTrace() {
        return tests(Golden.file("torch_worker_trace").get("cases"), c -> {
            String spec = "sampler=torch-generator samples=" + c.get("n") + " seed=" + c.get("seed") + " batch="
                    + c.get("batch_size") + loaderKeys(c);
            int batch = c.get("batch_size").asInt();
            int workers = c.get("num_workers").asInt();
            for (int e = 0; e < c.get("epochs").size(); e++) {
                JsonNode epoch = c.get("epochs").get(e);
                OrderSpec predicted = order(spec + " epoch=" + e);
                assertOrder(epoch.get("returned_order"), predicted);
                for (var opened : epoch.get("opened_by_worker").properties()) {
                    int worker = Integer.parseInt(opened.getKey());
                    int[] own = IntStream.range(0, predicted.length())
                            .filter(step -> worker < 0 || step / batch % workers == worker)
                            .map(predicted::sample)
                            .toArray();
                    assertThat(own).containsExactly(ints(opened.getValue()));
                }
            }
        });
    }
}
