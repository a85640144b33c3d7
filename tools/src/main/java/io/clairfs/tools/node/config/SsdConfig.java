package io.clairfs.tools.node.config;

import java.nio.file.Path;

/**
 * A directory on a local disk that samples may be kept in.
 *
 * @param directory absolute
 * @param bytes what the samples of one dataset may take there
 */
public record SsdConfig(Path directory, long bytes) {}
