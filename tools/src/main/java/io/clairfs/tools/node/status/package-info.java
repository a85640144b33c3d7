/**
 * The status as data, and as text for a person.
 */
@NullMarked
package io.clairfs.tools.node.status;

import org.jspecify.annotations.NullMarked;
