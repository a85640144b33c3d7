/**
 * The dataset as a read-only tree: one FUSE session, its guarded callbacks, and the table from errors to errno.
 * Callbacks run on libfuse's threads; they may wait for a sample, within the read timeout, and never push pages.
 */
@NullMarked
package io.clairfs.fs.mount;

import org.jspecify.annotations.NullMarked;
