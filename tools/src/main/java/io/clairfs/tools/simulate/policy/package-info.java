/** The compared policies, clairfs and those of the papers. Each decides from which place a node fetches a sample, by the same costs. */
@NullMarked
package io.clairfs.tools.simulate.policy;

import org.jspecify.annotations.NullMarked;
