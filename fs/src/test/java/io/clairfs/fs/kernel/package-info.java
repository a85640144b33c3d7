/** Tests of the page cache on a real mount of this process, and of inotify on an ordinary directory. */
@NullMarked
package io.clairfs.fs.kernel;

import org.jspecify.annotations.NullMarked;
