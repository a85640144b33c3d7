/**
 * Other nodes' caches, in two halves: {@code directory} (Hazelcast: members, jobs, who holds what) and
 * {@code transfer} (Netty: samples between nodes). It depends on {@code cache} alone and implements the ports that
 * {@code cache} declares. Nothing here knows FUSE.
 */
@NullMarked
package io.clairfs.peer;

import org.jspecify.annotations.NullMarked;
