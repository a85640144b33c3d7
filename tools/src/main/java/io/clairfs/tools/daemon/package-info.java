/**
 * The process behind one mount: wiring, start and stop in order, the status report.
 */
@NullMarked
package io.clairfs.tools.daemon;

import org.jspecify.annotations.NullMarked;
