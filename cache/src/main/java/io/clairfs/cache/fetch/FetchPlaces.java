package io.clairfs.cache.fetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.source.Source;

/**
 * Where a {@link FetchRouter} finds samples, and where it keeps them.
 *
 * @param tree the files of the dataset and their sizes
 * @param source has all of them
 * @param admission keeps fetched samples in a tier, and knows what the tiers hold
 * @param inUse samples that readers or loaders hold now
 * @param peers the other nodes; {@link PeerFetch#NONE} for a node alone
 */
public record FetchPlaces(DatasetTree tree, Source source, Admission admission, SamplesInUse inUse, PeerFetch peers) {}
