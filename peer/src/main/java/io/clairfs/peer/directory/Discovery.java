package io.clairfs.peer.directory;

import java.util.List;
import java.util.Map;

/** How the first other member is found. Never by multicast. */
public sealed interface Discovery {
    /** By a list of names, each with {@code :port}, or without for this node's own port. With an empty list the node is alone. */
    record Members(List<String> hosts) implements Discovery {
        public Members {
            hosts = List.copyOf(hosts);
        }
    }

    /** By the Kubernetes plugin of Hazelcast with its properties, such as {@code service-dns} or {@code namespace}. */
    record Kubernetes(Map<String, String> properties) implements Discovery {
        public Kubernetes {
            properties = Map.copyOf(properties);
        }
    }

    /**
     * By the nodes of the Slurm job that this process belongs to, all with the same port.
     *
     * @param environment of the process
     * @throws IllegalArgumentException if there is no Slurm job, or its list of nodes cannot be read
     */
    static Members slurm(Map<String, String> environment) {
        String list = environment.getOrDefault("SLURM_JOB_NODELIST", environment.getOrDefault("SLURM_NODELIST", ""));
        if (list.isBlank()) {
            throw new IllegalArgumentException("SLURM_JOB_NODELIST is not set: this is no Slurm job");
        }
        return new Members(SlurmNodeList.expand(list));
    }
}
