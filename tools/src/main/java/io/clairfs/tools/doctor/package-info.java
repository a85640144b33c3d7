/**
 * Whether a mount will work on this machine, or why one does not: checks that look and change nothing, and the archive for a report.
 *
 * <p>A check sees the machine through {@link io.clairfs.tools.doctor.Machine} alone, so that a test can show it another one.
 */
@NullMarked
package io.clairfs.tools.doctor;

import org.jspecify.annotations.NullMarked;
