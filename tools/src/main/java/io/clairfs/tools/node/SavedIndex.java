package io.clairfs.tools.node;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SavedListings;
import io.clairfs.cache.view.View;
import io.clairfs.tools.node.config.IndexCache;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The file in which the listing of a large source is kept for the next mount.
 *
 * <p>It is only a help: if it cannot be read or written, the source is listed, and no error is reported. One that is outdated and cannot be removed
 * is reported.
 *
 * <p>A listing that is known to be outdated never becomes the file, not even for a moment: the process may be killed at any time, and the next
 * mount would believe it. So whether it is outdated is looked at under the lock under which the new file takes its place, and under which the
 * file is removed.
 */
final class SavedIndex {
    private static final Logger LOG = System.getLogger(SavedIndex.class.getName());

    private static final int FEWEST_ENTRIES = 10_000;

    private static final int NAME_BYTES = 16;

    private final Path file;
    private final byte[] source;
    private final View view;
    private final SavedListings.Use use;
    private final boolean isNew;
    private final SavedListings listings;
    private final Consumer<String> warnings;
    private final AtomicBoolean outdated = new AtomicBoolean();

    /** Held while the file is replaced or removed. */
    private final Object changing = new Object();

    /**
     * Reads the file that an earlier mount of {@code source} in this view left, if there is one.
     *
     * @param isNew whether this is a new mount; a process that goes on with one knows the listing already
     */
    SavedIndex(IndexCache cache, Path source, View view, boolean isNew, Consumer<String> warnings) {
        this.source = source.toString().getBytes(UTF_8);
        this.view = view;
        this.warnings = warnings;
        use = cache.use();
        file = cache.directory().resolve(name(view.distinguish(this.source)));
        this.isNew = isNew;
        listings = use == SavedListings.Use.NONE || !isNew
                ? SavedListings.none()
                : SavedListings.read(file, this.source, view, use);
    }

    private static String name(byte[] source) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(source);
            return HexFormat.of().formatHex(Arrays.copyOf(digest, NAME_BYTES)) + ".index";
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    SavedListings listings() {
        return listings;
    }

    /** Saves the listing when it is complete and differs from the saved one. */
    void saveWhenComplete(DatasetTree tree) {
        var _ = tree.complete()
                .thenAccept(
                        all -> Thread.ofPlatform().daemon().name("index-writer").start(() -> save(all)));
    }

    /** Whether files may have been rewritten since {@code tree} was listed, unseen, for at least a part of it is an earlier mount's listing. */
    boolean mayBeOld(DatasetTree tree) {
        return use == SavedListings.Use.VERIFIED && (isNew ? listings.isUsed() : isKept(tree));
    }

    /** Whether its listing is kept; one that is small is listed as fast as read, unless a header is read of each file. */
    private boolean isKept(DatasetTree tree) {
        return !view.isRaw() || tree.entryCount() >= FEWEST_ENTRIES;
    }

    /** Saves the listing now, unless it is known to be outdated when it is written. */
    void save(DatasetTree tree) {
        if (use == SavedListings.Use.NONE || outdated.get() || !listings.isNews() || !isKept(tree)) {
            listings.forget();
            return;
        }
        try {
            Files.createDirectories(
                    file.getParent(),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            listings.write(file, source, tree, this::placeUnlessOutdated);
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "the index is not saved: " + e.getMessage());
        }
    }

    private void placeUnlessOutdated(Path written, Path place) throws IOException {
        synchronized (changing) {
            if (!outdated.get()) {
                SavedListings.Placing.REPLACE.place(written, place);
            }
        }
    }

    /** Removes the saved index, because a file differs from its listing. The next mount lists the source again. */
    void fileChanged() {
        if (use == SavedListings.Use.NONE || !outdated.compareAndSet(false, true)) {
            return;
        }
        try {
            synchronized (changing) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            if (Files.exists(file)) {
                warnings.accept("a file has changed since it was listed, and the saved index cannot be removed ("
                        + e.getMessage() + "): unmount, remove " + file + ", and mount again");
            }
            return;
        }
        if (listings.isUsed() || !isNew) {
            warnings.accept("a file has changed since it was listed, and the saved index is removed: "
                    + "unmount and mount again to see the files as they are now");
        }
    }
}
