/** Tests of the demonstration; those of the whole of it need /dev/fuse and a Python. */
@NullMarked
package io.clairfs.tools.demo;

import org.jspecify.annotations.NullMarked;
