/**
 * Side-by-side measurements on the machine at hand: alternated within one run, medians, ratios. Never a pass or fail.
 */
@NullMarked
package io.clairfs.tools.bench;

import org.jspecify.annotations.NullMarked;
