/**
 * The domain of clairfs: datasets, orders, jobs, tiers, prefetching. It knows neither the FUSE kernel interface nor the
 * network; what it needs of those it declares as ports ({@code StagingArea}, {@code Source}) that other modules implement.
 */
@NullMarked
package io.clairfs.cache;

import org.jspecify.annotations.NullMarked;
