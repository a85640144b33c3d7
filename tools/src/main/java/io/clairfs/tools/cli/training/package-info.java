/**
 * What the program does once when it is built, in a JVM that records which classes are loaded and what is compiled.
 */
@NullMarked
package io.clairfs.tools.cli.training;

import org.jspecify.annotations.NullMarked;
