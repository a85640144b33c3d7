/**
 * Where a daemon is mounted: what may be mounted where, what is mounted already, the directory of the control files, and asking a daemon from outside.
 */
@NullMarked
package io.clairfs.tools.node.mount;

import org.jspecify.annotations.NullMarked;
