/**
 * The calls of the C library that the JDK does not offer: file names as bytes, {@code openat}, {@code statx}, memory
 * without a garbage collector. Thin, checked, one errno convention, one way to
 * bind a function ({@link io.clairfs.cache.posix.NativeFunction}). Nothing here knows what a sample is.
 */
@NullMarked
package io.clairfs.cache.posix;

import org.jspecify.annotations.NullMarked;
