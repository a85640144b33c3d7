package io.clairfs.tools.node.control;

import io.clairfs.fs.control.ControlContent;
import io.clairfs.fs.control.ControlTree.DirectoryNode;
import io.clairfs.fs.control.ControlTree.FileNode;
import io.clairfs.fs.control.ControlTree.Node;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The control files {@code python/NAME}: modules for the trainer, so that nothing has to be installed where it runs. */
final class PythonFiles {
    private static final List<String> MODULES = List.of(
            "clairfs_device.py",
            "clairfs_feed.py",
            "clairfs_finder.py",
            "clairfs_follow.py",
            "clairfs_generator.py",
            "clairfs_job.py",
            "clairfs_loader.py",
            "clairfs_moment.py",
            "clairfs_open.py",
            "clairfs_run.py",
            "clairfs_sampler.py",
            "clairfs_torch.py",
            "sitecustomize.py");

    private final TreeMap<String, ControlContent> modules = new TreeMap<>();

    PythonFiles() {
        MODULES.forEach(name -> modules.put(name, resource(name)));
    }

    private static ControlContent resource(String name) {
        try (InputStream in = PythonFiles.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new AssertionError("the program has no " + name);
            }
            return ControlContent.of(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The node at {@code path} below {@code python}. */
    @Nullable
    Node find(List<String> path) {
        if (path.isEmpty()) {
            return new DirectoryNode(List.copyOf(modules.keySet()));
        }
        ControlContent module = path.size() == 1 ? modules.get(path.getFirst()) : null;
        return module == null ? null : new FileNode(() -> module);
    }
}
