/**
 * The threads that work in the background: each does one step again and again, survives a bug in it, and ends within a bound. Threads that answer
 * the kernel are not of these (they come and go with the requests), nor those that do one thing once.
 */
@NullMarked
package io.clairfs.cache.worker;

import org.jspecify.annotations.NullMarked;
