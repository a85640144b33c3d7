/**
 * What the control files say and do: status, where, jobs, errors.
 */
@NullMarked
package io.clairfs.tools.node.control;

import org.jspecify.annotations.NullMarked;
