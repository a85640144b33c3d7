/**
 * The control files under {@code .clairfs}: a second small FUSE mount whose files are made when they are opened.
 * What a file says or does is given from outside; nothing here knows jobs or tiers.
 */
@NullMarked
package io.clairfs.fs.control;

import org.jspecify.annotations.NullMarked;
