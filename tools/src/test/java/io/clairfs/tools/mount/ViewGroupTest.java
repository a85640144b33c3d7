package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nodes with a view: those with the same one share their caches, others share nothing. */
@Timeout(600)
final class ViewGroupTest {
    private static final int SAMPLES = 40;
    private static final int WIDTH = 60;
    private static final int HEIGHT = 50;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static Path source;

    @BeforeAll
    static void makeImages() throws IOException {
        source = FIXTURE.newDirectory("source");
        Random random = new Random(5);
        for (int i = 0; i < SAMPLES; i++) {
            BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
            for (int at = 0; at < WIDTH * HEIGHT; at++) {
                image.setRGB(at % WIDTH, at / WIDTH, random.nextInt(1 << 24));
            }
            ImageIO.write(image, "png", source.resolve("s" + i).toFile());
        }
    }

    private static NodeGroup group(List<String> views) throws IOException {
        return NodeGroup.of(FIXTURE, source, SAMPLES, source, null, node -> {
            List<String> options =
                    new ArrayList<>(NodeGroup.Storage.memory(10 << 20).options(node));
            options.addAll(List.of("--view", views.get(node)));
            return options;
        });
    }

    /** Reads every sample of a node with {@code decode}. PNG is lossless, so they are what the source's images are. */
    private static void assertShowsImages(LiveMount node) throws IOException {
        for (int i = 0; i < SAMPLES; i++) {
            byte[] shown = Files.readAllBytes(node.point().resolve("s" + i));
            BufferedImage image = ImageIO.read(source.resolve("s" + i).toFile());
            byte[] wanted = new byte[("P6\n" + WIDTH + " " + HEIGHT + "\n255\n").length() + 3 * WIDTH * HEIGHT];
            int to = wanted.length - 3 * WIDTH * HEIGHT;
            System.arraycopy(
                    ("P6\n" + WIDTH + " " + HEIGHT + "\n255\n").getBytes(java.nio.charset.StandardCharsets.US_ASCII),
                    0,
                    wanted,
                    0,
                    to);
            for (int at = 0; at < WIDTH * HEIGHT; at++) {
                int color = image.getRGB(at % WIDTH, at / WIDTH);
                wanted[to++] = (byte) (color >> 16);
                wanted[to++] = (byte) (color >> 8);
                wanted[to++] = (byte) color;
            }
            assertThat(shown).as("s" + i).isEqualTo(wanted);
        }
    }

    // Promise V5
    @Test
    void nodesWithOneView_shareWhatTheyMake() throws Exception {
        NodeGroup group = group(List.of("decode", "decode")).mount(2);
        for (LiveMount node : group.nodes()) {
            node.job("name=both seed=3 world=2 epochs=2 sampler=torch-distributed ranks="
                    + group.nodes().indexOf(node));
        }
        for (LiveMount node : group.nodes()) {
            node.await("planned", s -> s.at("/group/plan").asString().equals("made"));
            assertShowsImages(node);
        }
        long fromPeers = 0;
        for (LiveMount node : group.nodes()) {
            fromPeers += node.status().at("/fetched/peer/count").asLong();
            assertThat(node.lines("errors")).allMatch(line -> line.contains("the secret in"));
        }
        assertThat(fromPeers).isPositive();
    }

    // Promise V5
    @Test
    void nodesWithDifferentViews_shareNothing() throws Exception {
        NodeGroup group = group(List.of("decode", "raw"));
        List<LiveMount> nodes = new ArrayList<>();
        for (int node = 0; node < 2; node++) {
            List<String> options = new ArrayList<>(group.storage().options(node));
            options.addAll(List.of("--index-rule", "sorted", "--bind", group.bind(node)));
            options.addAll(List.of("--members", group.bind(0) + "," + group.bind(1)));
            options.addAll(List.of("--secret-file", group.secret().toString()));
            nodes.add(FIXTURE.mount(source, options.toArray(String[]::new)));
        }
        for (LiveMount node : nodes) {
            node.await("in a group", s -> s.at("/group/joined").asBoolean());
            assertThat(node.status().at("/group/nodes").size()).isEqualTo(1);
        }
        assertShowsImages(nodes.get(0));
        for (int i = 0; i < SAMPLES; i++) {
            assertThat(nodes.get(1).point().resolve("s" + i)).hasSameBinaryContentAs(source.resolve("s" + i));
        }
        for (LiveMount node : nodes) {
            assertThat(node.status().at("/fetched/peer/count").asLong()).isZero();
            assertThat(node.status().at("/group/nodes").size()).isEqualTo(1);
        }
    }
}
