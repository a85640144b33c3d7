package io.clairfs.cache.dataset.rule;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.dataset.PathLookup;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.dataset.TestTree;
import io.clairfs.cache.order.FileLooks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What each rule takes and leaves, on small trees. */
class IndexRuleTest {
    @TempDir
    Path directory;

    @TempDir
    Path outside;

    private TestTree tree;

    @BeforeEach
    void open() {
        tree = new TestTree(directory);
    }

    @AfterEach
    void close() throws Exception {
        tree.close();
    }

    @Test
    void hfImagefolder_skipsHiddenAndSpecialAndFollowsNoDirectoryLinks() throws Exception {
        tree.file("b/x.jpg")
                .file("b/.hidden.jpg")
                .file("b/__kept.PNG")
                .file(".git/y.jpg")
                .file("__pycache__/z.jpg")
                .file("a-1/x.jpg")
                .file("a/x.jpg")
                .file("a/x.jpg.gz")
                .file("a/notes.txt")
                .file("root.webp")
                .link("a/link.jpg", "x.jpg")
                .link("a/broken.jpg", "nowhere.jpg")
                .link("c", "a");
        assertThat(tree.paths("hf-imagefolder"))
                .containsExactly(
                        "a-1/x.jpg", "a/link.jpg", "a/x.jpg", "a/x.jpg.gz", "b/__kept.PNG", "b/x.jpg", "root.webp");
    }

    @ParameterizedTest
    @ValueSource(strings = {"imagefolder", "yolo", "timm", "keras-follow-links"})
    void linksThatLeadInCircles_areRefusedInTime(String rule) {
        tree.file("a/x.jpg").link("a/l1", ".").link("a/l2", ".").link("a/l3", "..");
        assertThatThrownBy(() -> tree.paths(rule)).hasMessageContaining("links to directories lead in circles");
    }

    // Promise N4
    @ParameterizedTest
    @ValueSource(strings = {"imagefolder", "timm", "keras", "keras-follow-links", "yolo", "dali", "sorted"})
    void directoryOutside_thatTheFrameworkNumbers_isRefusedWithTheRemedy(String rule) throws Exception {
        Files.createFile(outside.resolve("y.jpg"));
        tree.file("a/x.jpg").link("b", outside.toString());
        assertThatThrownBy(() -> tree.paths(rule))
                .isInstanceOf(DatasetException.class)
                .hasMessage("b is a link to a directory outside the source, " + outside
                        + ", whose files the mount does not have: put the directory in place of the link (a copy, or mount --bind),"
                        + " or mount a directory that holds both and make the link a relative one");
    }

    @ParameterizedTest
    @ValueSource(strings = {"imagefolder", "timm", "keras-follow-links", "yolo", "sorted"})
    void directoryOutsideBehindAnotherLink_isRefused_howeverDeepItIs(String rule) {
        tree.file("a/x.jpg")
                .directory("a/deep")
                .link("a/deep/l", "../../.out")
                .link(".out", "a/../../" + directory.relativize(outside).getFileName());
        assertThatThrownBy(() -> tree.paths(rule))
                .isInstanceOf(DatasetException.class)
                .hasMessageContaining("is a link to a directory outside the source");
    }

    @ParameterizedTest
    @ValueSource(strings = {"keras", "hf-imagefolder"})
    void directoryOutside_thatTheFrameworkDoesNotFollow_isNoSample(String rule) throws Exception {
        tree.file("a/x.jpg").link("a/out.jpg", outside.toString());
        assertThat(tree.paths(rule)).containsExactly("a/x.jpg");
    }

    @ParameterizedTest
    @ValueSource(strings = {"imagefolder", "timm", "keras", "hf-imagefolder", "yolo", "dali", "sorted"})
    void fileOutside_isNumberedAsTheFrameworkDoes(String rule) throws Exception {
        Path file = Files.createFile(outside.resolve("y.jpg"));
        tree.file("a/x.jpg").link("a/out.jpg", file.toString());
        assertThat(tree.paths(rule)).containsExactly("a/out.jpg", "a/x.jpg");
    }

    @Test
    void hfImagefolder_leavesOutLinksThatLeadNowhereOutside() throws Exception {
        tree.file("a/x.jpg").link("a/out.jpg", outside.resolve("gone.jpg").toString());
        assertThat(tree.paths("hf-imagefolder")).containsExactly("a/x.jpg");
    }

    @Test
    void dali_withALinkToAFileOutsideAtTheRoot_ignoresIt() throws Exception {
        tree.file("a/x.jpg")
                .link("readme", Files.createFile(outside.resolve("readme")).toString());
        assertThat(tree.paths("dali")).containsExactly("a/x.jpg");
    }

    @Test
    void manifest_throughADirectoryOutside_isRefusedWithTheRemedy() throws Exception {
        Files.createFile(outside.resolve("y.jpg"));
        tree.file("a/x.jpg").link("b", outside.toString());
        Path list = directory.resolve("list");
        Files.write(list, List.of("a/x.jpg", "b/y.jpg"));
        assertThatThrownBy(() -> tree.paths("manifest:" + list))
                .isInstanceOf(DatasetException.class)
                .hasMessageContaining("b is a link to a directory outside the source");
    }

    @Test
    void hfImagefolder_withMetadata_isRefused() {
        tree.file("a/x.jpg").file("metadata.csv");
        assertThatThrownBy(() -> tree.paths("hf-imagefolder"))
                .isInstanceOf(DatasetException.class)
                .hasMessageContaining("metadata.csv decides about the order")
                .hasMessageContaining("manifest:FILE");
    }

    @Test
    void yolo_takesWhatARecursiveGlobFinds() throws Exception {
        tree.file("train/b.JPG")
                .file("train/a-b/c.png")
                .file("train/a/c.heic")
                .file("train/.hidden.jpg")
                .file(".cache/d.jpg")
                .file("train/e.txt")
                .file("f.bmp")
                .link("train/broken.jpg", "nowhere")
                .link("linked", "train/a");
        assertThat(tree.paths("yolo"))
                .containsExactly(
                        "f.bmp",
                        "linked/c.heic",
                        "train/a-b/c.png",
                        "train/a/c.heic",
                        "train/b.JPG",
                        "train/broken.jpg");
    }

    @Test
    void dali_goesOneLevelDownAndSortsByBytes() throws Exception {
        tree.file("b/2.jpg")
                .file("b/10.JPG")
                .file("b/.jpg")
                .file("b/deeper/3.jpg")
                .file("b/sound.wav")
                .file("b/text.txt")
                .file(".a/1.jp2")
                .file("\uE000/x.jpg")
                .file("\uD83D\uDE00/x.jpg")
                .file("root.jpg")
                .link("b/broken.jpg", "nowhere")
                .link("c", "b");
        assertThat(tree.paths("dali"))
                .containsExactly(
                        ".a/1.jp2",
                        "b/.jpg",
                        "b/10.JPG",
                        "b/2.jpg",
                        "b/broken.jpg",
                        "b/sound.wav",
                        "c/.jpg",
                        "c/10.JPG",
                        "c/2.jpg",
                        "c/broken.jpg",
                        "c/sound.wav",
                        "\uE000/x.jpg",
                        "\uD83D\uDE00/x.jpg");
    }

    @Test
    void dali_withABrokenLinkAtTheRoot_isRefused() {
        tree.file("a/x.jpg").link("broken", "nowhere");
        assertThatThrownBy(() -> tree.paths("dali"))
                .isInstanceOf(DatasetException.class)
                .hasMessageContaining("broken leads nowhere");
    }

    @Test
    void timm_equalKeysStayInTheWalksOrder() throws Exception {
        tree.file("b/x.jpg")
                .file("B/x.jpg")
                .file("B/X.jpg")
                .file("b/x01.jpg")
                .file("b/x1.jpg")
                .file("b/x001.jpg");
        assertThat(tree.paths("timm"))
                .containsExactly("b/x001.jpg", "b/x01.jpg", "b/x1.jpg", "B/X.jpg", "B/x.jpg", "b/x.jpg");
    }

    @Test
    void timm_comparesLongNumbersAsNumbers() throws Exception {
        tree.file("9999999999999999999999.jpg")
                .file("10000000000000000000000.jpg")
                .file("5.jpg");
        assertThat(tree.paths("timm"))
                .containsExactly("5.jpg", "9999999999999999999999.jpg", "10000000000000000000000.jpg");
    }

    @Test
    void sorted_takesEverything() throws Exception {
        tree.file("b/.x").file("a-/y").file("a/y").file("z.txt");
        assertThat(tree.paths("sorted")).containsExactly("a-/y", "a/y", "b/.x", "z.txt");
    }

    @Test
    void manifest_keepsItsLinesOrderAndRepetitions() throws Exception {
        tree.file("a/x y.jpg").file("a/b/z").file("top").link("l", "a");
        Path list = directory.resolve("list");
        Files.write(list, List.of("top", "./a/b/z", "l/b/z", "", "a/x y.jpg", "top"));
        assertThat(tree.paths("manifest:" + list)).containsExactly("top", "a/b/z", "l/b/z", "a/x y.jpg", "top");
    }

    @ParameterizedTest
    @ValueSource(strings = {"gone.jpg", "a", "a/../a/x", "a/x/y"})
    void manifest_withALineThatIsNoFile_isRefused(String line) throws Exception {
        tree.file("a/x");
        Path list = directory.resolve("list");
        Files.write(list, List.of("a/x", line));
        assertThatThrownBy(() -> tree.paths("manifest:" + list))
                .isInstanceOf(DatasetException.class)
                .hasMessageContaining("line 2 of");
    }

    private SampleIndex indexOf(IndexRule rule, String part) throws Exception {
        DatasetTree listed = tree.list();
        Entry entry = Objects.requireNonNull(listed.find(part.getBytes(UTF_8), 60_000));
        return rule.index(listed, entry.listing().subdirectory(entry.at()));
    }

    @Test
    void manifest_ofAPart_hasTheLinesBelowIt_whichBeginAtTheRootAllTheSame() throws Exception {
        tree.file("train/b.jpg").file("train/a.jpg").file("train2/c.jpg").file("val/d.jpg");
        Path list = Files.write(
                outside.resolve("list"),
                List.of("val/d.jpg", "./train/b.jpg", "train2/c.jpg", "train/a.jpg", "train", "val/gone.jpg"));
        IndexRule rule = IndexRule.of("manifest:" + list);
        assertThat(TestTree.paths(indexOf(rule, "train"))).containsExactly("train/b.jpg", "train/a.jpg");
        assertThatThrownBy(() -> indexOf(rule, "val"))
                .isInstanceOf(DatasetException.class)
                .hasMessageContaining("line 6 of");
    }

    @Test
    void manifest_withoutLinesBelowThePart_saysWhereItsPathsBegin() throws Exception {
        tree.file("train/a.jpg");
        Path list = Files.write(outside.resolve("list"), List.of("a.jpg"));
        assertThatThrownBy(() -> indexOf(IndexRule.of("manifest:" + list), "train"))
                .isInstanceOf(DatasetException.class)
                .hasMessage("the manifest " + list
                        + " lists no sample below train: its paths are relative to the root of the"
                        + " whole dataset, so they begin with train/");
    }

    @Test
    void manifest_thatDoesNotAnswer_isWaitedForInTime() throws Exception {
        tree.file("a.jpg");
        Path list = Files.write(outside.resolve("list"), List.of("a.jpg"));
        DatasetTree listed = tree.list();
        List<Runnable> hanging = new ArrayList<>();
        IndexRule rule = new ManifestRule(list, new FileLooks(hanging::add, _ -> 1));
        for (int i = 0; i < 2; i++) { // the second is told at once
            assertThatThrownBy(() -> rule.index(listed, listed.root()))
                    .isInstanceOf(DatasetException.class)
                    .hasMessage("manifest " + list + " does not answer: look at its file system");
        }
        assertThat(hanging).hasSize(1);
    }

    @Test
    void manifest_thatCannotBeRead_isRefused() {
        assertThatThrownBy(() -> tree.paths("manifest:/nowhere/list"))
                .isInstanceOf(DatasetException.class)
                .hasMessageContaining("cannot read the manifest /nowhere/list");
    }

    @ParameterizedTest
    @ValueSource(strings = {"imagefolder", "timm", "keras", "hf-imagefolder", "yolo", "dali", "sorted"})
    void everyRule_withoutFiles_saysSo(String rule) {
        tree.directory("a");
        assertThatThrownBy(() -> tree.paths(rule)).isInstanceOf(DatasetException.class);
    }

    @Test
    void unknownRule_namesTheKnownOnes() {
        assertThatThrownBy(() -> IndexRule.of("image-folder"))
                .isInstanceOf(DatasetException.class)
                .hasMessageContaining("imagefolder")
                .hasMessageContaining("manifest:FILE");
    }

    @Test
    void pathLookup_findsEverySample() throws Exception {
        tree.file("a/x.jpg").file("a/y.jpg").file("a/b/x.jpg").file("top.jpg").file("a/no.txt");
        DatasetTree listed = tree.list();
        SampleIndex index = IndexRule.of("timm").index(listed, listed.root());
        PathLookup lookup = new PathLookup(index);
        assertThat(index.size()).isEqualTo(4);
        for (int sample = 0; sample < index.size(); sample++) {
            assertThat(lookup.sampleOf(index.path(sample))).isEqualTo(sample);
        }
        assertThat(lookup.sampleOf("./a/b/x.jpg".getBytes(UTF_8)))
                .isEqualTo(lookup.sampleOf("a/b/x.jpg".getBytes(UTF_8)));
        for (String none : List.of("a/no.txt", "a", "b/x.jpg", "", "a/z.jpg", "/top.jpg")) {
            assertThat(lookup.sampleOf(none.getBytes(UTF_8))).as(none).isEqualTo(PathLookup.NO_SAMPLE);
        }
    }
}
