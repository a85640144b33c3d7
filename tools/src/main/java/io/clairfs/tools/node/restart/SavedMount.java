package io.clairfs.tools.node.restart;

import io.clairfs.cache.view.KeptForm;
import io.clairfs.tools.node.config.MountSizes;
import io.clairfs.tools.node.mount.ControlPoint;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Where a mount is, and what it has, as the process before decided it: neither the source nor the mount may answer when a process takes over, and the trainers
 * have taken memory since.
 *
 * @param source absolute
 * @param mountPoint absolute
 * @param control where the control files are mounted
 * @param sizes of its areas of memory; null where the process before kept none
 * @param kept what its tiers hold in a view; {@link KeptForm#UNDECIDED} where the process before did not say
 */
public record SavedMount(
        Path source,
        Path mountPoint,
        ControlPoint control,
        @Nullable MountSizes sizes,
        KeptForm kept) {
    private static final String FILE = "mount";
    private static final String KEPT = "kept";

    /** The same, whose tiers hold {@code form}. */
    SavedMount keeping(KeptForm form) {
        return new SavedMount(source, mountPoint, control, sizes, form);
    }

    void write(RestartDirectory directory) throws IOException {
        Properties all = new Properties();
        all.setProperty("source", source.toString());
        all.setProperty("mountPoint", mountPoint.toString());
        all.setProperty("control", control.path().toString());
        all.setProperty("linked", Boolean.toString(control.linked()));
        all.setProperty(KEPT, kept.name());
        if (sizes != null) {
            SavedSizes.write(sizes, all);
        }
        StringWriter text = new StringWriter();
        all.store(text, null);
        directory.replace(FILE, text.toString());
    }

    static SavedMount read(RestartDirectory directory) throws IOException {
        Properties all = new Properties();
        all.load(new StringReader(directory.text(FILE)));
        return new SavedMount(
                path(all, "source"),
                path(all, "mountPoint"),
                new ControlPoint(path(all, "control"), Boolean.parseBoolean(all.getProperty("linked"))),
                SavedSizes.read(all),
                kept(all));
    }

    private static Path path(Properties all, String name) throws IOException {
        String text = all.getProperty(name);
        if (text == null) {
            throw new IOException("what the restart needs is incomplete: no " + name);
        }
        return Path.of(text);
    }

    private static KeptForm kept(Properties all) {
        try {
            return KeptForm.valueOf(all.getProperty(KEPT, KeptForm.UNDECIDED.name()));
        } catch (IllegalArgumentException ofAnotherVersion) {
            return KeptForm.UNDECIDED;
        }
    }
}
