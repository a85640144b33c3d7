/**
 * The mount: FUSE, the kernel's page cache, the control files. The only module that touches jnr-fuse and libfuse.
 * Native types stay in here; the domain in {@code cache} sees bytes and samples.
 */
@NullMarked
package io.clairfs.fs;

import org.jspecify.annotations.NullMarked;
