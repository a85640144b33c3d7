/** Tests of the code that the commands share. */
@NullMarked
package io.clairfs.tools;

import org.jspecify.annotations.NullMarked;
