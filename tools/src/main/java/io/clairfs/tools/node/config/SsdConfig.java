package io.clairfs.tools.node.config;

import java.nio.file.Path;

/**
 * A directory on a local disk for samples.
 *
 * @param directory absolute
 * @param bytes the room there for the samples of one dataset
 */
public record SsdConfig(Path directory, long bytes) {}
