/**
 * Getting samples to where the reader will look, before it looks: the router to the cheapest copy, the staging buffer in
 * the page cache, and the loader threads that follow the access streams. Loaders own the buffers that they fetch until
 * they hand them to a tier or drop them. Blocking source calls happen on loader and reader threads, never on the watcher's.
 */
@NullMarked
package io.clairfs.cache.prefetch;

import org.jspecify.annotations.NullMarked;
