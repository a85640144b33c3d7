package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.rule.NaturalOrder;
import io.clairfs.cache.order.Golden;
import io.clairfs.cache.order.spec.OrderSpec;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The index rules against what torchvision, timm and Keras made of the same tree, full of names that tell rules apart. */
class PathOrderGoldenTest {
    private static final JsonNode GOLDEN = Golden.file("path_order");

    @TempDir
    Path directory;

    private TestTree tree;

    @BeforeEach
    void build() {
        JsonNode described = GOLDEN.get("tree");
        List<String> many = Golden.texts(described.get("files_in_a_and_zoo"));
        tree = new TestTree(directory);
        for (String name : Golden.texts(described.get("classes"))) {
            boolean full = name.equals("a") || name.equals("zoo");
            for (String file : full ? many : Golden.texts(described.get("files_in_others"))) {
                tree.file(name + "/" + file);
            }
        }
        for (String below : Golden.texts(described.get("subdirs_of_a"))) {
            for (String file : Golden.texts(described.get("files_in_subdirs"))) {
                tree.file("a/" + below + "/" + file);
            }
        }
        tree.file("rootfile.jpg")
                .link("zoo/link_to_dir", "../a-b")
                .link("zoo/link_to_file.jpg", "img1.jpg")
                .link("zoo/broken_link.jpg", "nowhere.jpg")
                .link("linkclass", "B");
        ByteArrayOutputStream invalid = new ByteArrayOutputStream();
        invalid.writeBytes(": > 'aa/bad".getBytes(UTF_8));
        invalid.write(0xff);
        invalid.writeBytes(".jpg'".getBytes(UTF_8));
        tree.run(invalid.toByteArray());
    }

    @AfterEach
    void close() throws Exception {
        tree.close();
    }

    @Test
    void imagefolder() throws Exception {
        JsonNode c = vector("torchvision.datasets.ImageFolder", 0);
        assertThat(tree.paths("imagefolder")).isEqualTo(Golden.texts(c.get("paths")));
    }

    @Test
    void timm() throws Exception {
        JsonNode c = vector("timm ReaderImageFolder (default extensions .png .jpg .jpeg)", 0);
        assertThat(tree.paths("timm")).isEqualTo(Golden.texts(c.get("paths")));
    }

    @Test
    void kerasFollowingLinks() throws Exception {
        JsonNode c = vector("keras.utils.image_dataset_from_directory index_directory", 0);
        assertThat(c.get("follow_links").asBoolean()).isTrue();
        assertThat(tree.paths("keras-follow-links")).isEqualTo(Golden.texts(c.get("paths")));
    }

    @Test
    void kerasShuffled() throws Exception {
        JsonNode c = vector("keras.utils.image_dataset_from_directory index_directory", 1);
        assertThat(c.get("follow_links").asBoolean()).isFalse();
        List<String> sorted = tree.paths("keras");
        List<String> shuffled = new ArrayList<>();
        OrderSpec order = OrderSpec.parse("sampler=numpy-legacy samples=" + sorted.size() + " seed=" + c.get("seed"));
        for (int sample : order.indices()) {
            shuffled.add(sorted.get(sample));
        }
        assertThat(shuffled).isEqualTo(Golden.texts(c.get("paths")));
    }

    /** The k-th vector of a rule; every vector of the file belongs to one of the tests here. */
    private static JsonNode vector(String rule, int k) {
        List<JsonNode> found = new ArrayList<>();
        GOLDEN.get("cases").forEach(c -> {
            if (c.get("rule").asString().equals(rule)) {
                found.add(c);
            }
        });
        assertThat(GOLDEN.get("cases").size()).isEqualTo(5);
        return found.get(k);
    }

    @Test
    void naturalOrder_isThatOfTheKeys() {
        JsonNode keys = vector("timm natural_key", 0).get("keys");
        for (JsonNode a : keys) {
            for (JsonNode b : keys) {
                int order = NaturalOrder.PATHS.compare(
                        a.get(0).asString().getBytes(UTF_8), b.get(0).asString().getBytes(UTF_8));
                assertThat(Integer.signum(order))
                        .as(a + " and " + b)
                        .isEqualTo(Integer.signum(compareKeys(a.get(1), b.get(1))));
            }
        }
    }

    private static int compareKeys(JsonNode a, JsonNode b) {
        for (int i = 0; i < Math.min(a.size(), b.size()); i++) {
            JsonNode x = a.get(i);
            JsonNode y = b.get(i);
            int order = x.isNumber()
                    ? new BigInteger(x.asString()).compareTo(new BigInteger(y.asString()))
                    : PathOrder.CODE_POINTS.compare(
                            x.asString().getBytes(UTF_8), y.asString().getBytes(UTF_8));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(a.size(), b.size());
    }
}
