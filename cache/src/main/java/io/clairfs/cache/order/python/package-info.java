/**
 * The shuffles of Python's {@code random} and of NumPy, and the samplers that are made of them alone: permutations, Hugging Face datasets.
 */
@NullMarked
package io.clairfs.cache.order.python;

import org.jspecify.annotations.NullMarked;
