/** Tests of the simulator. */
@NullMarked
package io.clairfs.tools.simulate;

import org.jspecify.annotations.NullMarked;
