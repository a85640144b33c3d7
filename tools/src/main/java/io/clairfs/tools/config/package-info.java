/**
 * The files that users write or keep: a mount's options, a machine's measurements. This package reads, checks and writes them; it neither
 * measures nor mounts. An unknown key is an error.
 */
@NullMarked
package io.clairfs.tools.config;

import org.jspecify.annotations.NullMarked;
