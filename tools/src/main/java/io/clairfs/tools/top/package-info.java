/** What a mount does now: its status of one moment beside that of the moment before, as one screen or as lines. */
@NullMarked
package io.clairfs.tools.top;

import org.jspecify.annotations.NullMarked;
