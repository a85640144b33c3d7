package io.clairfs.cache.dataset;

/**
 * Mode, owner and group, which few files of a dataset have of their own.
 *
 * @param mode type and permission bits as in {@code st_mode}
 */
public record Attributes(int mode, int uid, int gid) {}
