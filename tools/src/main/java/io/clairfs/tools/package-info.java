/**
 * What a person runs: the command line, the daemon that wires the modules, the demonstration and the measurements.
 * It may use every module; no module uses it.
 */
@NullMarked
package io.clairfs.tools;

import org.jspecify.annotations.NullMarked;
