/** Side-by-side measurements on this machine: all sides within one run, compared as ratios. A measurement never passes or fails. */
@NullMarked
package io.clairfs.tools.bench;

import org.jspecify.annotations.NullMarked;
