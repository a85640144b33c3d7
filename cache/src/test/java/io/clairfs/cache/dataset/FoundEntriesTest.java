package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Entries found by name, again and again, and more of them than the table has places at first. */
final class FoundEntriesTest {
    private static final int FILES = 3_000;

    @TempDir
    private Path root;

    private TestTree files;
    private DatasetTree tree;

    @BeforeEach
    void makeTwoDirectoriesWithTheSameNames() throws Exception {
        files = new TestTree(root);
        for (String directory : List.of("a", "b")) {
            files.directory(directory)
                    .run(("seq -f '" + directory + "/f%g' " + FILES + " | xargs touch").getBytes(US_ASCII));
        }
        tree = files.list();
    }

    @AfterEach
    void close() throws Exception {
        files.close();
    }

    private Listing listing(String directory) throws Exception {
        Listing root = tree.list(tree.root(), 0);
        return tree.list(root.subdirectory(root.find(directory.getBytes(US_ASCII), 0, 1)), 0);
    }

    @Test
    void eachName_isFoundInItsDirectory_howeverOften() throws Exception {
        FoundEntries found = new FoundEntries();
        Listing[] listings = {listing("a"), listing("b")};
        Random random = new Random(7);
        for (int i = 0; i < 5 * FILES; i++) {
            Listing listing = listings[random.nextInt(2)];
            byte[] name = ("f" + (1 + random.nextInt(FILES))).getBytes(US_ASCII);
            int entry = found.find(listing, name, name.length);
            assertThat(listing.name(entry)).isEqualTo(name);
        }
    }

    @Test
    void nameThatIsNotThere_isNotFound_norIsTheBeginningOfOne() throws Exception {
        FoundEntries found = new FoundEntries();
        Listing listing = listing("a");
        byte[] name = "f1234".getBytes(US_ASCII);
        for (int i = 0; i < 2; i++) {
            assertThat(found.find(listing, name, 5)).isEqualTo(listing.find(name, 0, 5));
            assertThat(listing.name(found.find(listing, name, 4))).isEqualTo(Arrays.copyOf(name, 4));
            assertThat(found.find(listing, "f12345".getBytes(US_ASCII), 6)).isEqualTo(-1);
            assertThat(found.find(listing, name, 0)).isEqualTo(-1);
        }
    }
}
