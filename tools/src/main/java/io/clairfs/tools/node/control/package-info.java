/** The content and the effects of the control files: status, where, jobs, errors. */
@NullMarked
package io.clairfs.tools.node.control;

import org.jspecify.annotations.NullMarked;
