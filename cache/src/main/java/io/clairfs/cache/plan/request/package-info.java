/**
 * The planner's input: which samples the jobs read when, the room of the nodes, and what they hold now.
 */
@NullMarked
package io.clairfs.cache.plan.request;

import org.jspecify.annotations.NullMarked;
