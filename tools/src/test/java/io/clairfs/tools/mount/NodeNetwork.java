package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Network namespaces, one for each node, joined by links of limited bandwidth to a bridge in a namespace of its own.
 *
 * <p>So nothing is visible outside: no interface, no address, no rule of the machine's firewall. The names of the namespaces,
 * {@code clairfs-test-PID-...}, contain the process that made them. Removing a namespace removes its links. Processes enter with nsenter:
 * {@code ip netns exec} would put a process into its own mount namespace, and its mounts would not be visible outside.
 */
final class NodeNetwork {
    private static final String PREFIX = "clairfs-test-";
    private static final Path NAMES = Path.of("/run/netns");
    private static final String SUBNETS = "10.83.";
    private static final int BITS_PER_BYTE = 8;
    private static final long LEAST_BURST_BYTES = 256 * 1024;
    private static final AtomicInteger MADE = new AtomicInteger();

    private final String name;
    private final int nodes;

    /** How many links each node has. */
    private int rails = 1;

    private NodeNetwork(String name, int nodes) {
        this.name = name;
        this.nodes = nodes;
    }

    /** Makes a network; each node sends and receives {@code bytesPerSecond} at most. */
    static NodeNetwork make(int nodes, long bytesPerSecond) throws IOException, InterruptedException {
        String name = PREFIX + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet();
        NodeNetwork network = new NodeNetwork(name, nodes);
        try {
            network.build(bytesPerSecond);
            return network;
        } catch (IOException | InterruptedException | RuntimeException | AssertionError e) {
            network.remove();
            throw e;
        }
    }

    /** The reason why no network can be made here. Null if one can. */
    static @Nullable String missing() throws IOException, InterruptedException {
        if (!Requirements.works("ip", "-V") || !Requirements.works("tc", "-V")) {
            return "ip or tc is missing (package iproute2), so nodes have no networks of their own";
        }
        if (!Requirements.works("nsenter", "-V")) {
            return "nsenter is missing (package util-linux), so nodes have no networks of their own";
        }
        try {
            NodeNetwork trial = make(1, 1_000_000);
            boolean works = Requirements.works(trial.inside(0, "true"));
            trial.remove();
            return works ? null : "network namespaces cannot be entered here";
        } catch (IOException | AssertionError e) {
            String reason = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            return "network namespaces cannot be made here: " + reason;
        }
    }

    /** Removes the leftovers of killed runs. */
    static void removeLeftovers() throws IOException, InterruptedException {
        for (String left : names(PREFIX + "*")) {
            String pid = left.substring(PREFIX.length()).split("-", 2)[0];
            if (pid.matches("[0-9]{1,9}")
                    && ProcessHandle.of(Long.parseLong(pid)).isEmpty()) {
                System.out.println("removing the network namespace of a killed run: " + left);
                delete(left);
            }
        }
    }

    /** Deletes a namespace. Another run may be deleting it, too. */
    private static void delete(String namespace) throws IOException, InterruptedException {
        Ended ended = Ended.run(List.of("ip", "netns", "delete", namespace), Map.of());
        if (Files.exists(NAMES.resolve(namespace))) {
            ended.succeeded();
        }
    }

    private static List<String> names(String pattern) throws IOException {
        List<String> found = new ArrayList<>();
        if (Files.isDirectory(NAMES)) {
            try (DirectoryStream<Path> all = Files.newDirectoryStream(NAMES, pattern)) {
                all.forEach(path -> found.add(path.getFileName().toString()));
            }
        }
        return found;
    }

    private void build(long bytesPerSecond) throws IOException, InterruptedException {
        run("ip", "netns", "add", hub());
        bridge("whole");
        for (int node = 0; node < nodes; node++) {
            run("ip", "netns", "add", of(node));
            inNode(node, "link", "set", "lo", "up");
            connect(node, 0, "whole", bytesPerSecond);
        }
    }

    /** Gives each node one link more, in a subnet and on a bridge of its own, and with a bandwidth of its own. */
    void addRail(long bytesPerSecond) throws IOException, InterruptedException {
        String bridge = "rail" + rails;
        bridge(bridge);
        for (int node = 0; node < nodes; node++) {
            connect(node, rails, bridge, bytesPerSecond);
        }
        rails++;
    }

    private void connect(int node, int rail, String bridge, long bytesPerSecond)
            throws IOException, InterruptedException {
        String port = port(node, rail);
        String card = "net" + rail;
        run("ip", "-n", hub(), "link", "add", port, "type", "veth", "peer", "name", card, "netns", of(node));
        inHub("link", "set", port, "master", bridge, "up");
        inNode(node, "addr", "add", address(node, rail) + "/24", "dev", card);
        inNode(node, "link", "set", card, "up");
        limit("add", hub(), port, bytesPerSecond);
        limit("add", of(node), card, bytesPerSecond);
    }

    private void bridge(String bridge) throws IOException, InterruptedException {
        inHub("link", "add", bridge, "type", "bridge");
        inHub("link", "set", bridge, "up");
    }

    /** Changes what a node sends and receives at most. */
    void limit(int node, long bytesPerSecond) throws IOException, InterruptedException {
        limit("change", hub(), port(node), bytesPerSecond);
        limit("change", of(node), "net0", bytesPerSecond);
    }

    private static void limit(String action, String namespace, String device, long bytesPerSecond)
            throws IOException, InterruptedException {
        long burst = Math.max(LEAST_BURST_BYTES, bytesPerSecond / 100);
        run(
                "tc",
                "-n",
                namespace,
                "qdisc",
                action,
                "dev",
                device,
                "root",
                "tbf",
                "rate",
                bytesPerSecond * BITS_PER_BYTE + "bit",
                "burst",
                Long.toString(burst),
                "latency",
                "100ms");
    }

    private String hub() {
        return name + "-hub";
    }

    private String of(int node) {
        return name + "-node" + node;
    }

    private static String port(int node) {
        return port(node, 0);
    }

    private static String port(int node, int rail) {
        return "node" + node + (rail == 0 ? "" : "rail" + rail);
    }

    String address(int node) {
        return address(node, 0);
    }

    /** The address of a node on one of its links; the first is that of {@link #address(int)}. */
    String address(int node, int rail) {
        return SUBNETS + rail + "." + (node + 1);
    }

    int nodes() {
        return nodes;
    }

    /** Wraps a command to run in the network of a node. Its process is the command's own. */
    String[] inside(int node, String... command) {
        List<String> all = new ArrayList<>(List.of("nsenter", "--net=" + NAMES.resolve(of(node))));
        all.addAll(List.of(command));
        return all.toArray(String[]::new);
    }

    /** Cuts the node off: nothing reaches or leaves it. */
    void cut(int node) throws IOException, InterruptedException {
        inHub("link", "set", port(node), "down");
    }

    /** Cuts one link of a node: nothing comes or leaves by it, and nobody is told. */
    void cut(int node, int rail) throws IOException, InterruptedException {
        inHub("link", "set", port(node, rail), "down");
    }

    /** Reverses {@link #cut(int, int)}. */
    void mend(int node, int rail) throws IOException, InterruptedException {
        inHub("link", "set", port(node, rail), "up");
    }

    /** Reverses {@link #cut}. */
    void mend(int node) throws IOException, InterruptedException {
        inHub("link", "set", port(node), "up");
    }

    /** Splits the network: the nodes from {@code first} on reach only each other. */
    void split(int first) throws IOException, InterruptedException {
        bridge("half");
        for (int node = first; node < nodes; node++) {
            inHub("link", "set", port(node), "master", "half");
        }
    }

    /** Joins the parts again, so that all nodes reach each other. */
    void join() throws IOException, InterruptedException {
        for (int node = 0; node < nodes; node++) {
            inHub("link", "set", port(node), "master", "whole", "up");
        }
        inHub("link", "delete", "half");
    }

    private void inHub(String... arguments) throws IOException, InterruptedException {
        ip(hub(), arguments);
    }

    private void inNode(int node, String... arguments) throws IOException, InterruptedException {
        ip(of(node), arguments);
    }

    private static void ip(String namespace, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("ip", "-n", namespace));
        command.addAll(List.of(arguments));
        run(command.toArray(String[]::new));
    }

    private static void run(String... command) throws IOException, InterruptedException {
        Ended.run(List.of(command), Map.of()).succeeded();
    }

    /** Removes the network. A process that is still in a namespace keeps it alive until the process ends. */
    void remove() throws IOException, InterruptedException {
        for (String made : names(name + "-*")) {
            delete(made);
        }
    }
}
