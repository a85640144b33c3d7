package io.clairfs.peer.directory;

import java.util.Map;

/**
 * A job as the group knows it.
 *
 * @param name of the job
 * @param lines its specification, as it was written on one of the nodes
 * @param ranks by node's name, which ranks read there, as that node wrote them
 */
public record Job(String name, String lines, Map<String, String> ranks) {
    public Job {
        ranks = Map.copyOf(ranks);
    }
}
