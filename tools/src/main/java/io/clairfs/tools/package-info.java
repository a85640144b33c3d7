/**
 * The programs that a person runs: the command line, the daemon that wires the modules, the demonstration and the measurements. This module
 * may use every module; no module uses it.
 */
@NullMarked
package io.clairfs.tools;

import org.jspecify.annotations.NullMarked;
