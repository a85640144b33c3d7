/**
 * The threads that work in the background: each does one step again and again, survives a bug in it, and ends within a bound. Not here:
 * threads that answer the kernel (they come and go with the requests), and those that do one thing once.
 */
@NullMarked
package io.clairfs.cache.worker;

import org.jspecify.annotations.NullMarked;
