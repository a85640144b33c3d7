package io.clairfs.cache.tier;

/**
 * The failures of a tier since the mount.
 *
 * @param checksums samples whose bytes were not those stored; each was forgotten, none was served
 * @param reads samples that the medium did not give back
 * @param writes samples that the medium did not take
 */
public record TierFailures(long checksums, long reads, long writes) {
    /** Nothing went wrong. */
    public static final TierFailures NONE = new TierFailures(0, 0, 0);
}
