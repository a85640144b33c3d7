/**
 * The dataset as the kernel sees it: names and attributes from the listing, bytes from whoever answers reads. Every entry of the listing is a node of the
 * protocol by its number; no paths are taken apart here.
 */
@NullMarked
package io.clairfs.fs.dataset;

import org.jspecify.annotations.NullMarked;
