/** What {@code clairfs warm} shows: how much of what is wanted is there, how fast it comes, and for how long it still will. */
@NullMarked
package io.clairfs.tools.warm;

import org.jspecify.annotations.NullMarked;
