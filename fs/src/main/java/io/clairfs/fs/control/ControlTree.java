package io.clairfs.fs.control;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The control files by path. Directories may be endless, because names are looked up one by one. */
public interface ControlTree {
    /** The node at {@code path}, which is segments from the root; null if there is none. */
    @Nullable
    Node find(List<String> path);

    /** A file or a directory. */
    sealed interface Node {}

    /** A control file. */
    record FileNode(ControlFile file) implements Node {}

    /** A directory with the names that a listing shows. */
    record DirectoryNode(List<String> names) implements Node {}
}
