/**
 * The files that users write or keep: a mount's options, a machine's measurements. They are read, checked and written here; nothing here
 * measures or mounts. An unknown key is an error.
 */
@NullMarked
package io.clairfs.tools.config;

import org.jspecify.annotations.NullMarked;
