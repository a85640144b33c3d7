/**
 * Counters and the log of errors that every part writes to and {@code status} reads from. Nothing here decides anything.
 */
@NullMarked
package io.clairfs.cache.status;

import org.jspecify.annotations.NullMarked;
