/**
 * What the source holds: the tree of directories and files as it was listed, and the rules that turn it into the sample
 * index of a framework. Names are bytes throughout. Nothing here reads the contents of a sample, but for the
 * headers that a view needs for sizes ({@code ShownSizes}).
 */
@NullMarked
package io.clairfs.cache.dataset;

import org.jspecify.annotations.NullMarked;
