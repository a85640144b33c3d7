/**
 * How a sample's bytes come to this node's memory, for a reader, a loader, a tier or another node.
 *
 * <p>{@link io.clairfs.cache.fetch.FetchRouter} fetches from the cheapest place that has the sample (memory, slower tiers, peers, the
 * source), by what recent fetches took. Outside memory a sample is fetched at most once at a time; later requests join
 * ({@code SampleFlight}). All fetches from the source pass one gate ({@code SourceGate}, {@code SourceTurns}, {@code InFlightLimit}): by
 * urgency, a piece at a time, and no more at once than raises throughput. {@link io.clairfs.cache.fetch.SampleReader} serves reads that
 * were not staged, by {@code ReaderFetches}; no reader waits for longer than the read timeout.
 * {@link io.clairfs.cache.fetch.SamplesInUse} keeps samples of recent readers.
 *
 * <p>The receiver of a buffer has a reference to it, and releases it. A call of the source blocks the thread that makes it: a loader, a
 * filler, or the one that took a request. No thread waits for another's fetch on behalf of a reader: the thread that fetches tells all who
 * joined. Locks, outermost first: a flight's, the gate's.
 */
@NullMarked
package io.clairfs.cache.fetch;

import org.jspecify.annotations.NullMarked;
