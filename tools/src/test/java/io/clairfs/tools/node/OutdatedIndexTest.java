package io.clairfs.tools.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SavedListings;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.view.Transform;
import io.clairfs.cache.view.View;
import io.clairfs.tools.node.config.IndexCache;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A listing that turns out to be outdated while it is saved. The process may be killed whenever the kept file is there, so it must not be there for
 * a moment: the kernel tells which files appeared.
 */
@Timeout(120)
final class OutdatedIndexTest {
    private static final String END = "end";

    private final List<String> warnings = new ArrayList<>();
    private final Shown shown = new Shown();

    private Path source;
    private Path cache;

    /** Shows files as they are. A listing is saved with the identity, so {@code whenWritten} runs while it is written. */
    private static final class Shown implements Transform {
        private Runnable whenWritten = () -> {};

        @Override
        public String identity() {
            whenWritten.run();
            return "as they are";
        }

        @Override
        public long madeBytes(MemorySegment head, long fileBytes) {
            return AS_IT_IS;
        }

        @Override
        public void make(MemorySegment file, MemorySegment into) {
            throw new AssertionError("nothing is made of files that are shown as they are");
        }
    }

    @BeforeEach
    void makeSource(@TempDir Path directory) throws Exception {
        source = Files.createDirectory(directory.resolve("source"));
        cache = Files.createDirectory(directory.resolve("cache"));
        Files.writeString(source.resolve("a"), "content");
    }

    private SavedIndex index() {
        return new SavedIndex(
                new IndexCache(cache, SavedListings.Use.VERIFIED), source, View.of(shown), true, warnings::add);
    }

    /** Saves the listing of the source. Returns the files that appeared beside it, in order. */
    private List<String> save(SavedIndex index, Runnable whenWritten) throws Exception {
        try (DirectorySource files = new DirectorySource(source);
                DatasetTree tree = new DatasetTree(files, View.of(shown), index.listings(), 2, warnings::add);
                WatchService watch = cache.getFileSystem().newWatchService()) {
            tree.complete().join();
            WatchKey _ = cache.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            shown.whenWritten = whenWritten;
            index.save(tree);
            shown.whenWritten = () -> {};
            Files.createFile(cache.resolve(END));
            List<String> appeared = new ArrayList<>();
            while (!appeared.contains(END)) {
                WatchKey key = watch.take();
                key.pollEvents().forEach(event -> appeared.add(String.valueOf(event.context())));
                assertThat(key.reset()).isTrue();
            }
            return appeared;
        }
    }

    private List<String> kept() throws Exception {
        try (var files = Files.list(cache)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.equals(END))
                    .toList();
        }
    }

    @Test
    void listingThatIsAsItWas_isKept() throws Exception {
        List<String> appeared = save(index(), () -> {});
        assertThat(appeared).anyMatch(name -> name.endsWith(".index"));
        assertThat(kept()).singleElement().asString().endsWith(".index");
        assertThat(warnings).isEmpty();
    }

    // Promise C5
    @Test
    void listingThatIsOutdatedWhenItIsWritten_isNotKept_notEvenForAMoment() throws Exception {
        SavedIndex index = index();
        List<String> appeared = save(index, index::fileChanged);
        assertThat(appeared).as("it was written beside the kept file").anyMatch(name -> name.endsWith(".new"));
        assertThat(appeared).noneMatch(name -> name.endsWith(".index"));
        assertThat(kept()).isEmpty();
    }

    @Test
    void keptListing_isRemovedWhenAFileHasChanged() throws Exception {
        List<String> _ = save(index(), () -> {});
        SavedIndex next = index();
        try (DirectorySource files = new DirectorySource(source);
                DatasetTree tree = new DatasetTree(files, View.of(shown), next.listings(), 2, warnings::add)) {
            tree.complete().join();
            next.fileChanged();
        }
        assertThat(kept()).isEmpty();
    }
}
