/** Tests of what the commands share. */
@NullMarked
package io.clairfs.tools;

import org.jspecify.annotations.NullMarked;
