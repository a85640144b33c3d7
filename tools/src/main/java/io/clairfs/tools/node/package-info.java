/**
 * One daemon: {@link io.clairfs.tools.node.Daemon} makes the parts of the product and joins them, in the order in which they need each other, and ends
 * them in reverse.
 *
 * <p>The packages below are its parts. None of them knows the instruments (bench, calibrate, demo, simulate).
 */
@NullMarked
package io.clairfs.tools.node;

import org.jspecify.annotations.NullMarked;
