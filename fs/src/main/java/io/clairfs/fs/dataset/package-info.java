/**
 * The dataset as the kernel sees it: names and attributes from the listing, bytes from {@code DatasetMount.ReadRequests}. Every entry of the listing
 * is a node of the protocol by its number; no paths are parsed here.
 */
@NullMarked
package io.clairfs.fs.dataset;

import org.jspecify.annotations.NullMarked;
