/**
 * The policies that are compared, clairfs and those of the papers; each says what a node fetches from where, by the same costs.
 */
@NullMarked
package io.clairfs.tools.simulate.policy;

import org.jspecify.annotations.NullMarked;
