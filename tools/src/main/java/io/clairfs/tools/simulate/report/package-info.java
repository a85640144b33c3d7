/** The HTML report: figures as SVG, and the effect of more storage. */
@NullMarked
package io.clairfs.tools.simulate.report;

import org.jspecify.annotations.NullMarked;
