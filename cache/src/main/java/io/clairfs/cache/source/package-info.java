/**
 * The slow store behind the mount: the port {@link io.clairfs.cache.source.Source}, its implementation over a directory,
 * and the one family of errors that a failing source raises. Nothing here caches.
 */
@NullMarked
package io.clairfs.cache.source;

import org.jspecify.annotations.NullMarked;
