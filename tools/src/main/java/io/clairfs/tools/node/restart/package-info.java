/**
 * A mount's process that dies is started again and goes on with the mount: what that needs is kept in a directory, and read by the process that takes
 * over. The supervisor that starts it is {@code fs.mount.Supervisor}. See docs/decisions/restart.md.
 */
@NullMarked
package io.clairfs.tools.node.restart;

import org.jspecify.annotations.NullMarked;
