/** Directories of demonstrations and measurements, with what has to be gone when they end. */
@NullMarked
package io.clairfs.tools.scratch;

import org.jspecify.annotations.NullMarked;
