/**
 * Measures the parameters of the performance model on this machine: source, SSD, memory. Reads much, writes only where it is told
 * to, removes what it wrote.
 */
@NullMarked
package io.clairfs.tools.calibrate;

import org.jspecify.annotations.NullMarked;
