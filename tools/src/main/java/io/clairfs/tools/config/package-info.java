/**
 * Files that users write or keep: options of a mount, what was measured on a machine. Reading, checking, writing; nothing here
 * measures or mounts. An unknown key is an error.
 */
@NullMarked
package io.clairfs.tools.config;

import org.jspecify.annotations.NullMarked;
