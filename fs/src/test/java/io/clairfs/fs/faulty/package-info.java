/** Tests of the faulty source, with readers in processes of their own. */
@NullMarked
package io.clairfs.fs.faulty;

import org.jspecify.annotations.NullMarked;
