package io.clairfs.cache.dataset;

/**
 * Mode, owner and group. The files of a dataset share a few combinations.
 *
 * @param mode type and permission bits as in {@code st_mode}
 */
public record Attributes(int mode, int uid, int gid) {}
