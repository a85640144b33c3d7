/**
 * The commands of {@code clairfs}, one class each: parse, call, print. Exit codes are 0 done, 1 failed, 2 wrong usage.
 */
@NullMarked
package io.clairfs.tools.cli;

import org.jspecify.annotations.NullMarked;
