/**
 * How frameworks number the files of a dataset: {@link io.clairfs.cache.dataset.rule.IndexRule} and its implementations. Each makes the
 * same list in the same order as the framework's own code.
 */
@NullMarked
package io.clairfs.cache.dataset.rule;

import org.jspecify.annotations.NullMarked;
