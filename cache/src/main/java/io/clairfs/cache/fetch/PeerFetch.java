package io.clairfs.cache.fetch;

import io.clairfs.cache.tier.SampleBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The other nodes, as a place to fetch samples from.
 *
 * <p>A local copy says what they hold: {@link #mayHave} sends no request. A peer that does not answer in time, answers garbage, or no
 * longer has the sample, is no error: the sample then comes from the source.
 */
public interface PeerFetch {
    /** No peers. */
    PeerFetch NONE = new PeerFetch() {
        @Override
        public boolean mayHave(int file) {
            return false;
        }

        @Override
        public @Nullable SampleBuffer fetch(int file) {
            return null;
        }
    };

    /** Whether a peer that is not left alone is known to hold the sample, or is its home. */
    boolean mayHave(int file);

    /**
     * The whole sample, verified, with a reference for the caller; null when no peer gave it within its bound. Blocks until then.
     */
    @Nullable
    SampleBuffer fetch(int file);
}
