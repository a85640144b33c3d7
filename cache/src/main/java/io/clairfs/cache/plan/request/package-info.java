/**
 * What the planner is asked: which samples the jobs will read when, what the nodes have room for, and what they hold by now.
 */
@NullMarked
package io.clairfs.cache.plan.request;

import org.jspecify.annotations.NullMarked;
