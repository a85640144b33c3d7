/**
 * One daemon. {@link io.clairfs.tools.node.Daemon} has the parts of the product made and connected in the order in which they need each other ({@code
 * SampleParts}, {@code MountParts}, {@code ControlParts}), and closes them in reverse.
 *
 * <p>The packages below are its parts. None of them knows the instruments (bench, calibrate, demo, simulate).
 */
@NullMarked
package io.clairfs.tools.node;

import org.jspecify.annotations.NullMarked;
