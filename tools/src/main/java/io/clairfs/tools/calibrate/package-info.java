/**
 * Measures the parameters of the performance model on this machine: source, SSD, memory. It reads much data, writes only to the given
 * directory, and removes what it wrote.
 */
@NullMarked
package io.clairfs.tools.calibrate;

import org.jspecify.annotations.NullMarked;
