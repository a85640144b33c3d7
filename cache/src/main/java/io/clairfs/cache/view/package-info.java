/**
 * What a mount shows in place of the source's files: a deterministic transformation, made once where a file is fetched from the source, so that
 * everything behind (tiers, peers, page cache) holds what was made. The transformations themselves are not here: {@code gpufeeder.view} has them.
 */
@NullMarked
package io.clairfs.cache.view;

import org.jspecify.annotations.NullMarked;
