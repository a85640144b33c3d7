/**
 * One daemon. {@link io.clairfs.tools.node.Daemon} makes and connects the parts of the product in the order in which they need each other, and
 * closes them in reverse.
 *
 * <p>The packages below are its parts. None of them knows the instruments (bench, calibrate, demo, simulate).
 */
@NullMarked
package io.clairfs.tools.node;

import org.jspecify.annotations.NullMarked;
