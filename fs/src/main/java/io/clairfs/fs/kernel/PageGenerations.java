package io.clairfs.fs.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether the kernel keeps its pages in generations, and not in an active and an inactive list (Linux, Documentation/admin-guide/mm/multigen_lru.rst). */
final class PageGenerations {
    /** A number whose lowest bit says whether they are used. Not there in kernels without them. */
    static final Path ENABLED = Path.of("/sys/kernel/mm/lru_gen/enabled");

    private PageGenerations() {}

    /** Whether the kernel whose file this is uses them. */
    static boolean areUsed(Path enabled) {
        try {
            return (Integer.decode(Files.readString(enabled).strip()) & 1) != 0;
        } catch (IOException | NumberFormatException e) {
            return false;
        }
    }
}
