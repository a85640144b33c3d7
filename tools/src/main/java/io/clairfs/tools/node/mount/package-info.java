/**
 * Mount points: checks before a mount, existing mounts and their processes, the directory of the control files, and reading them from outside.
 */
@NullMarked
package io.clairfs.tools.node.mount;

import org.jspecify.annotations.NullMarked;
