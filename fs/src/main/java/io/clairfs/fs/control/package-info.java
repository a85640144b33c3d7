/**
 * The control files under {@code .clairfs}: a second small FUSE mount whose files are made when they are opened.
 * Callers supply what a file says and does; nothing here knows jobs or tiers.
 */
@NullMarked
package io.clairfs.fs.control;

import org.jspecify.annotations.NullMarked;
