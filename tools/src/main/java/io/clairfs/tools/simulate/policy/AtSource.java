package io.clairfs.tools.simulate.policy;

/**
 * The reads of the source that filled classes in the last iteration.
 *
 * @param seconds in which a node read, sum over the nodes; of its crews the longest counts
 * @param threadSeconds the same by threads, as far as staging threads share a rate with them
 * @param givesWay whether they read only while the node's staging threads do not
 */
public record AtSource(double seconds, double threadSeconds, boolean givesWay) {
    static final AtSource NONE = new AtSource(0, 0, false);
}
