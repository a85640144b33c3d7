/**
 * The kernel's side of the mount: pushing samples into its page cache, and learning from inotify what was read.
 * Threads of this package touch our own mount, in native calls only, so they must never be needed to answer an upcall.
 */
@NullMarked
package io.clairfs.fs.kernel;

import org.jspecify.annotations.NullMarked;
