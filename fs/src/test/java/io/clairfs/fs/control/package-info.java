/** Tests of what stands beside a mount; mounts themselves are tested as the whole program, in tools. */
@NullMarked
package io.clairfs.fs.control;

import org.jspecify.annotations.NullMarked;
