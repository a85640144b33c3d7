@NullMarked
package io.clairfs.fs.dataset;

import org.jspecify.annotations.NullMarked;
