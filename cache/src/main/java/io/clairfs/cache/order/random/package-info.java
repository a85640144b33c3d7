/**
 * The random number generators that the frameworks shuffle with, bit for bit: Mersenne Twister, PCG64, Philox, and how each is seeded. They
 * know nothing about samples.
 */
@NullMarked
package io.clairfs.cache.order.random;

import org.jspecify.annotations.NullMarked;
