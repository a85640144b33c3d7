package io.clairfs.tools.mount;

/** An action during a fault. */
@FunctionalInterface
interface Meanwhile {
    void happens() throws Exception;
}
