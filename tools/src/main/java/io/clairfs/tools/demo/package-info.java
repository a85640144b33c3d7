/** The demonstration: a dataset, a slow source, a real trainer that reads directly and through the mount, and the table of both. */
@NullMarked
package io.clairfs.tools.demo;

import org.jspecify.annotations.NullMarked;
