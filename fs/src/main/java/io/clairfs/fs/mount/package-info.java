/**
 * Mounts of this process: what all sessions have in common, the sessions that libfuse serves, with guarded callbacks, and the table from errors
 * to errno. Callbacks run on libfuse's threads and never push pages. The dataset's session is in {@code fs.protocol}.
 */
@NullMarked
package io.clairfs.fs.mount;

import org.jspecify.annotations.NullMarked;
