/** Tests of the slow source, with readers in processes of their own. */
@NullMarked
package io.clairfs.fs.slow;

import org.jspecify.annotations.NullMarked;
