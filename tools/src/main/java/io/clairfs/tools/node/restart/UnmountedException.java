package io.clairfs.tools.node.restart;

import java.io.IOException;
import java.io.Serial;
import java.nio.file.Path;

/** A mount was taken away before the process that takes it over could go on with it. What is mounted there now is another. */
public final class UnmountedException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    UnmountedException(Path mountPoint) {
        super(mountPoint + " was unmounted meanwhile; the process that was to go on with it ends");
    }
}
