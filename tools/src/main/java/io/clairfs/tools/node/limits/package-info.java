/**
 * The limits of a process: memory of the machine and of its control group, and descriptors.
 */
@NullMarked
package io.clairfs.tools.node.limits;

import org.jspecify.annotations.NullMarked;
