/** What tests need that mount, in this module and in others. */
@NullMarked
package io.clairfs.fs.testing;

import org.jspecify.annotations.NullMarked;
