/**
 * The network cards of a machine, and what lies near them: its rails (KSpeed, ICNP'24, section III-D 1). Read from {@code /sys}.
 */
@NullMarked
package io.clairfs.peer.rails;

import org.jspecify.annotations.NullMarked;
