package io.clairfs.tools.mount;

/** What happens while something is wrong. */
@FunctionalInterface
interface Meanwhile {
    void happens() throws Exception;
}
