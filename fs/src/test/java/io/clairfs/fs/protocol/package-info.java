@NullMarked
package io.clairfs.fs.protocol;

import org.jspecify.annotations.NullMarked;
