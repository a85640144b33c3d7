/** Tests of the demonstration. Those of the whole demonstration need /dev/fuse and a Python. */
@NullMarked
package io.clairfs.tools.demo;

import org.jspecify.annotations.NullMarked;
