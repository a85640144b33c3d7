/**
 * The HTML report: figures as SVG, and what more of one resource would bring.
 */
@NullMarked
package io.clairfs.tools.simulate.report;

import org.jspecify.annotations.NullMarked;
