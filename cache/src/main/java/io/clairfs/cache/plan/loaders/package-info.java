/**
 * How many loader threads each rank gets (Lobster, section 4).
 */
@NullMarked
package io.clairfs.cache.plan.loaders;

import org.jspecify.annotations.NullMarked;
