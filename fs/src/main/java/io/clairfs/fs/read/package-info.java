/**
 * The data plane of a read: from the kernel's request to the sample reader, and the account of it.
 */
@NullMarked
package io.clairfs.fs.read;

import org.jspecify.annotations.NullMarked;
