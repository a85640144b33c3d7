/**
 * The compared policies, clairfs and those of the papers. Each decides what a node fetches from where, by the same costs.
 */
@NullMarked
package io.clairfs.tools.simulate.policy;

import org.jspecify.annotations.NullMarked;
