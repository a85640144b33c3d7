package io.clairfs.fs.control;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The control files by their paths; directories may be without end, since names are looked up one by one. */
public interface ControlTree {
    /** What lies at {@code path}, segments from the root; null when nothing does. */
    @Nullable
    Node find(List<String> path);

    /** A file or a directory. */
    sealed interface Node {}

    /** A control file. */
    record FileNode(ControlFile file) implements Node {}

    /** A directory with the names that a listing shows. */
    record DirectoryNode(List<String> names) implements Node {}
}
