package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Two nodes with two links between them: samples come by both, and by the other one when one is cut. */
@Timeout(600)
final class RailGroupTest {
    private static final int SAMPLES = 200;
    private static final int SAMPLE_BYTES = 400_000;
    private static final long LINK_BYTES = 50_000_000;
    private static final SlowSourceSpec SLOW = new SlowSourceSpec(40_000_000, Duration.ofMillis(5));

    @RegisterExtension
    private final MountFixture fixture = MountFixture.withNetworks();

    private static boolean isUsed(JsonNode rail) {
        return rail.path("bytes").asLong() > 0;
    }

    // Promise G18
    @Test
    void linkThatIsCut_isReplacedByTheOther_andUsedAgainWhenItIsBack() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), SLOW)) {
            RailGroup rails = new RailGroup(fixture, dataset, SAMPLES, source.point(), true, LINK_BYTES, LINK_BYTES);
            LiveMount reader = rails.reader();
            RankTrainer trainer = rails.start(new Training("rails", 7, Training.NO_END, 8, 0));
            reader.await("with samples by both links", s -> {
                JsonNode links = s.at("/peers/0/rails");
                return links.size() == 2 && links.valueStream().allMatch(RailGroupTest::isUsed);
            });
            trainer.awaitMore(1);

            rails.network.cut(RailGroup.HOLDER, 1);
            reader.await(
                    "without the link that was cut",
                    s -> s.at("/peers/0/rails/1/left_alone").asBoolean()
                            && s.at("/peers/0/rails/0/connected").asBoolean()
                            && s.at("/peers/0/alive").asBoolean());
            trainer.awaitMore(2);
            long before = reader.status().at("/peers/0/rails/1/bytes").asLong();

            rails.network.mend(RailGroup.HOLDER, 1);
            reader.await(
                    "with the link again", s -> s.at("/peers/0/rails/1/bytes").asLong() > before);
            double longest = trainer.finish();
            System.out.printf("a link cut and mended: longest read %.2f s%n", longest);
            assertThat(reader.status().at("/reads/errors").asInt()).isZero();
            assertThat(fixture.clairfs("status", reader.point()).succeeded())
                    .contains("  rail")
                    .contains(rails.network.address(RailGroup.HOLDER, 1));
        }
    }
}
