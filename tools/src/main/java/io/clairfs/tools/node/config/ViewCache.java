package io.clairfs.tools.node.config;

/** What {@code --view-cache} has tiers and peers hold: what the view made, the source's files, or the cheaper of the two. */
public enum ViewCache {
    MADE,
    RAW,
    AUTO
}
