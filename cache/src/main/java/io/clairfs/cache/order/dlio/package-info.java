/**
 * The orders of DLIO, the benchmark of I/O for deep learning that MLPerf Storage is made of: its PyTorch loader over files of one sample each.
 */
@NullMarked
package io.clairfs.cache.order.dlio;

import org.jspecify.annotations.NullMarked;
