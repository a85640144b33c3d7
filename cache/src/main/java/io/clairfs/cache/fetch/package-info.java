/**
 * How the bytes of a sample come, for whoever asks: a reader, a loader, a tier, another node.
 *
 * <p>{@link io.clairfs.cache.fetch.FetchRouter} takes it from the cheapest place that has it (memory, slower tiers, peers, the source), by what such
 * fetches took lately; outside memory a sample is fetched at most once at a time, and who comes later joins ({@code SampleFlight}). All that is asked of the
 * source passes one gate ({@code SourceGate}, {@code SourceTurns}, {@code InFlightLimit}): by urgency, a piece at a time, and no more at once than the
 * source has use for. {@link io.clairfs.cache.fetch.SampleReader} is the way of a read that was not staged; no reader waits for longer than the read
 * timeout. {@link io.clairfs.cache.fetch.SamplesInUse} keeps samples of recent readers.
 *
 * <p>Whoever is given a buffer has a reference to it and lets it go. Calls of the source block the thread that makes them: a loader's, a tier's, or one
 * that took a reader's request. No thread waits for another's fetch on behalf of a reader: who fetches tells all who have asked.
 */
@NullMarked
package io.clairfs.cache.fetch;

import org.jspecify.annotations.NullMarked;
