/**
 * The search for the order of a trainer that no job describes: collects its first requests, has them searched, and runs the job that is found.
 * How an order is recognised is in {@code cache.seed}; what the jobs of users are is in {@code node.job}.
 */
@NullMarked
package io.clairfs.tools.node.seed;

import org.jspecify.annotations.NullMarked;
