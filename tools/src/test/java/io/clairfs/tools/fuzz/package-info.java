/** Input that nobody wrote: damaged, huge, random. What reads it refuses it in one line, or takes it and is none the worse. */
@NullMarked
package io.clairfs.tools.fuzz;

import org.jspecify.annotations.NullMarked;
