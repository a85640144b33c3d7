package io.clairfs.tools.node.restart;

import io.clairfs.tools.node.mount.ControlPoint;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Properties;

/**
 * Where a mount is, as the process before resolved it: neither the source nor the mount may answer when a process takes over.
 *
 * @param source absolute
 * @param mountPoint absolute
 * @param control where the control files are mounted
 */
public record SavedMount(Path source, Path mountPoint, ControlPoint control) {
    private static final String FILE = "mount";

    void write(RestartDirectory directory) throws IOException {
        Properties all = new Properties();
        all.setProperty("source", source.toString());
        all.setProperty("mountPoint", mountPoint.toString());
        all.setProperty("control", control.path().toString());
        all.setProperty("linked", Boolean.toString(control.linked()));
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
                new ControlPoint(path(all, "control"), Boolean.parseBoolean(all.getProperty("linked"))));
    }

    private static Path path(Properties all, String name) throws IOException {
        String text = all.getProperty(name);
        if (text == null) {
            throw new IOException("what the restart needs is incomplete: no " + name);
        }
        return Path.of(text);
    }
}
