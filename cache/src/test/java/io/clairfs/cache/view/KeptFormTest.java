package io.clairfs.cache.view;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.dataset.SavedListings;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.SourceUnfitException;
import io.clairfs.cache.testing.Repeating;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.ssd.SsdTier;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What tiers hold of a dataset in a view, in which form, and that nothing of another view or form is taken for it. */
@Timeout(120)
final class KeptFormTest extends ViewFixture {
    // Promise V5
    @Test
    void groupsOfDifferentViews_haveDifferentFingerprints() throws Exception {
        Files.delete(dataset.resolve("twice"));
        Files.delete(dataset.resolve("long"));
        Files.delete(dataset.resolve("broken"));
        List<String> prints = new ArrayList<>();
        for (View view : List.of(View.raw(), times(2), times(3), times(2).keeping(KeptForm.RAW))) {
            try (DirectorySource source = new DirectorySource(dataset);
                    DatasetTree tree = listed(source, view, SavedListings.none(), ViewFixture::none)) {
                prints.add(HexFormat.of().formatHex(FileNumbers.of(tree).fingerprint()));
            }
        }
        assertThat(prints).as("though all sizes are the same").doesNotHaveDuplicates();
    }

    // Promise V8
    @Test
    void filesThatAreKept_areMadeEachTime_withoutTheSource() throws Exception {
        View view = times(3).keeping(KeptForm.RAW);
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, view, SavedListings.none(), ViewFixture::none);
                Node node = new Node(source, tree)) {
            node.admission.follow(LocalPlan.WHILE_ROOM);
            int twice = file(tree, "twice");
            assertThat(tree.keptSize(twice)).isEqualTo(5);
            assertThat(tree.fileSize(twice)).isEqualTo(15);
            for (int time = 1; time <= 3; time++) {
                SampleBuffer sample = node.router.fetch(twice, false);
                assertThat(new String(sample.bytes().toArray(JAVA_BYTE), UTF_8)).isEqualTo("T1234T1234T1234");
                sample.release();
                assertThat(view.made()).isEqualTo(time);
            }
            SampleBuffer kept = node.router.fetchKept(twice);
            assertThat(new String(kept.bytes().toArray(JAVA_BYTE), UTF_8)).isEqualTo("T1234");
            kept.release();
            assertThat(node.counters.fromSource.bytes()).isEqualTo(5);
            assertThat(node.read("twice")).isEqualTo("T1234T1234T1234");
            assertThat(node.read("twice", 7, 3)).asString(UTF_8).isEqualTo("234");
            assertThat(view.made())
                    .as("a reader that comes in pieces has it made once")
                    .isEqualTo(4);
            assertThat(node.read("plain")).isEqualTo("as it is");
            assertThat(node.read("long")).isEqualTo(LONG_HEADER.repeat(3));
            assertThatThrownBy(() -> node.read("broken")).isInstanceOf(SourceUnfitException.class);
            assertThat(node.router.isInMemory(twice)).as("as it is shown").isFalse();
            assertThat(node.admission.residents().isHere(twice)).isTrue();
        }
    }

    // Promise V8
    @Test
    void whileTheFormIsNotDecided_nothingThatIsMadeIsKept() throws Exception {
        View view = times(2).keeping(KeptForm.UNDECIDED);
        try (DirectorySource source = new DirectorySource(dataset);
                DatasetTree tree = listed(source, view, SavedListings.none(), ViewFixture::none);
                Node node = new Node(source, tree)) {
            int twice = file(tree, "twice");
            assertThat(node.read("twice")).isEqualTo("T1234T1234");
            assertThat(node.admission.residents().isHere(twice)).isFalse();
            view.decide(KeptForm.RAW);
            view.decide(KeptForm.MADE);
            assertThat(view.kept()).as("decided once").isEqualTo(KeptForm.RAW);
            node.router.fetch(file(tree, "long"), true).release();
            SampleBuffer kept = node.router.fetchKept(file(tree, "long"));
            assertThat(kept.size()).isEqualTo(LONG_HEADER.length());
            kept.release();
            assertThat(node.read("twice")).isEqualTo("T1234T1234");
        }
    }

    // Promise V8
    @Test
    void diskOfKeptFiles_isTheRawViews_andNoneOfTheMadeOnes() throws Exception {
        Path ssd = directory.resolve("ssd");
        List<View> views =
                List.of(times(1).keeping(KeptForm.RAW), times(1), View.raw(), times(3).keeping(KeptForm.RAW));
        List<Boolean> has = List.of(false, false, true, true);
        long used = 0;
        for (int i = 0; i < views.size(); i++) {
            try (DirectorySource source = new DirectorySource(dataset);
                    DatasetTree tree = listed(source, views.get(i), SavedListings.none(), ViewFixture::none);
                    SsdTier tier = new SsdTier(ssd, "/data", 64 * MIB, 0, System::nanoTime, ViewFixture::none)) {
                tier.recover(tree);
                int twice = file(tree, "twice");
                assertThat(tier.contains(twice)).as("mount %d", i).isEqualTo(has.get(i));
                if (has.get(i)) {
                    assertThat(tier.usedBytes()).as("mount %d", i).isEqualTo(used);
                }
                if (i == 0) {
                    SampleBuffer sample = sample(5);
                    assertThat(tier.keep(twice, sample)).isTrue();
                    sample.release();
                    used = tier.usedBytes();
                }
            }
        }
    }

    @Test
    void cheaperForm_followsFromRoomAndSpeeds() {
        double mb = 1e6;
        assertThat(KeptForm.cheaper(100, 500, 500, 10 * mb, 10 * mb))
                .as("all fits")
                .isEqualTo(KeptForm.MADE);
        assertThat(KeptForm.cheaper(100, 500, 100, 10 * mb, 100 * mb))
                .as("the files fit, and making is quicker than the source")
                .isEqualTo(KeptForm.RAW);
        assertThat(KeptForm.cheaper(100, 500, 100, 1_000 * mb, 10 * mb))
                .as("the source is quick, so that what is made already saves more")
                .isEqualTo(KeptForm.MADE);
        assertThat(KeptForm.cheaper(100, 500, 0, 10 * mb, 10 * mb))
                .as("no room")
                .isEqualTo(KeptForm.MADE);
    }

    private static SampleBuffer sample(int bytes) {
        SampleBuffer sample = SampleBuffer.allocate(bytes);
        sample.bytes().fill((byte) 'T');
        return sample;
    }

    // Promise V5
    @Test
    void diskOfAnotherView_givesNothing_thoughPathSizeAndTimeAreTheSame() throws Exception {
        Path ssd = directory.resolve("ssd");
        List<View> views = List.of(times(1), View.raw(), View.of(new OtherOfTheSameSize()), times(1));
        for (int i = 0; i < views.size(); i++) {
            try (DirectorySource source = new DirectorySource(dataset);
                    DatasetTree tree = listed(source, views.get(i), SavedListings.none(), ViewFixture::none);
                    SsdTier tier = new SsdTier(ssd, "/data", 64 * MIB, 0, System::nanoTime, ViewFixture::none)) {
                tier.recover(tree);
                int twice = file(tree, "twice");
                assertThat(tree.fileSize(twice)).isEqualTo(5);
                assertThat(tier.contains(twice)).as("mount %d", i).isEqualTo(i == 3);
                if (i == 0) {
                    SampleBuffer sample = sample(5);
                    assertThat(tier.keep(twice, sample)).isTrue();
                    sample.release();
                }
            }
        }
    }

    /** Makes something else of the same size as {@code Repeating(1)}. */
    private static final class OtherOfTheSameSize implements Transform {
        private final Repeating once = new Repeating(1);

        @Override
        public String identity() {
            return "other";
        }

        @Override
        public long madeBytes(MemorySegment head, long fileBytes) throws UnfitFileException {
            return once.madeBytes(head, fileBytes);
        }

        @Override
        public void make(MemorySegment file, MemorySegment into) {
            into.fill((byte) 'o');
        }
    }
}
