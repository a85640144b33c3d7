/**
 * The configuration of one daemon, checked: what it mounts, its tiers, its group.
 */
@NullMarked
package io.clairfs.tools.node.config;

import org.jspecify.annotations.NullMarked;
