/** Generated input: damaged, huge, random. A reader refuses it in one line, or takes it without harm. */
@NullMarked
package io.clairfs.tools.fuzz;

import org.jspecify.annotations.NullMarked;
