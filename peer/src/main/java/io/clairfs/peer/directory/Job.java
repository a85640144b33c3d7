package io.clairfs.peer.directory;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * A job as the group knows it.
 *
 * @param name of the job
 * @param lines its specification, as it was written on one of the nodes
 * @param ranks which ranks read on a node, as that node wrote them, by node name in the order of names
 */
public record Job(String name, String lines, Map<String, String> ranks) {
    public Job {
        ranks = Collections.unmodifiableMap(new TreeMap<>(ranks));
    }
}
