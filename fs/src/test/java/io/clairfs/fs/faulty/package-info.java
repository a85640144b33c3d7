/**
 * A source that fails, for demonstrations and tests: a directory behind FUSE whose requests fail, hang or come short and whose files
 * change, as told while it is mounted. What was ever true of a file stays known here. It is never part of a user's mount.
 */
@NullMarked
package io.clairfs.fs.faulty;

import org.jspecify.annotations.NullMarked;
