package io.clairfs.peer.directory;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of the members that this node is told of. A name without one is looked up again and again: when nodes start together, a name server may
 * not answer, or not know all of them yet. Hazelcast reads the addresses at each join and at each search for another half of the group, so a node that began alone meets
 * the others when a name of theirs has an address.
 *
 * <p>Names are looked up here because Hazelcast itself would keep only those addresses that are on the interface that it binds to, which is this node's own
 * (5.7.0, {@code TcpIpJoiner.getPossibleAddresses}).
 *
 * <p>Life cycle: {@link GroupMembership} makes it, has it look up once before the join, then {@link #begin begins} it, and closes it. It has a thread while a
 * name is without an address.
 */
final class MemberNames implements AutoCloseable {
    private static final Logger LOG = System.getLogger(MemberNames.class.getName());

    private final NameLookup.Servers servers;
    private volatile Known known;
    private @Nullable ScheduledThreadPoolExecutor thread;

    /** A member {@code as} it was named, such as {@code node7}; its port is {@code :5701}. */
    private record Named(String as, String host, String port) {}

    private record Known(List<String> addresses, List<Named> waiting) {}

    private MemberNames(List<String> addresses, List<Named> names, NameLookup.Servers servers) {
        this.servers = servers;
        known = new Known(List.copyOf(addresses), List.copyOf(names));
    }

    /** The members that a group is to be found by, none of them looked up yet. Those of a Kubernetes service are looked up by Hazelcast. */
    static MemberNames of(ClusterConfig cluster, NameLookup.Servers servers) {
        List<String> members = switch (cluster.discovery()) {
            case Discovery.Members(var hosts) -> hosts;
            case Discovery.Kubernetes _ -> List.of();
        };
        List<String> addresses = new ArrayList<>();
        List<Named> names = new ArrayList<>();
        for (String member : members) {
            boolean hasPort = member.contains(":") && !member.endsWith("]");
            String withPort = hasPort ? member : member + ":" + cluster.bind().getPort();
            if (withPort.startsWith("[")) {
                addresses.add(withPort);
            } else {
                int colon = withPort.lastIndexOf(':');
                names.add(new Named(member, withPort.substring(0, colon), withPort.substring(colon)));
            }
        }
        return new MemberNames(addresses, names, servers);
    }

    /** The addresses that are known now, each with its port. */
    List<String> addresses() {
        return known.addresses;
    }

    /** The members that have no address yet, as they were named. */
    List<String> waiting() {
        return known.waiting.stream().map(Named::as).toList();
    }

    /** Looks up the names that have no address yet, once, within {@link NameLookup#WITHIN_MS}. */
    void lookUp() {
        Known before = known;
        List<String> hosts = before.waiting.stream().map(Named::host).toList();
        Map<String, List<InetAddress>> found = NameLookup.of(hosts, servers, NameLookup.WITHIN_MS);
        List<String> addresses = new ArrayList<>(before.addresses);
        List<Named> waiting = new ArrayList<>();
        for (Named name : before.waiting) {
            List<InetAddress> here = found.getOrDefault(name.host, List.of());
            here.forEach(address -> addresses.add(inBrackets(address) + name.port));
            if (here.isEmpty()) {
                waiting.add(name);
            }
        }
        known = new Known(List.copyOf(addresses), List.copyOf(waiting));
    }

    /** The address before a port. */
    static String inBrackets(InetAddress address) {
        String text = text(address);
        return text.contains(":") ? "[" + text + "]" : text;
    }

    /** The address as another machine can read it: without the name of this machine's card, which Java adds to one of IPv6. */
    static String text(InetAddress address) {
        String text = address.getHostAddress();
        int card = text.indexOf('%');
        return card < 0 ? text : text.substring(0, card);
    }

    /** From now on names without an address are looked up again, {@code everyS} seconds after the last look-up. */
    synchronized void begin(int everyS) {
        if (known.waiting.isEmpty()) {
            return;
        }
        LOG.log(
                Level.WARNING,
                "no address is known for " + String.join(", ", waiting()) + ": looked up again every " + everyS
                        + " s, until there is one");
        ScheduledThreadPoolExecutor names = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("clairfs-names").factory());
        thread = names;
        var _ = names.scheduleWithFixedDelay(this::lookUpAgain, everyS, everyS, TimeUnit.SECONDS);
    }

    private void lookUpAgain() {
        try {
            List<String> before = waiting();
            lookUp();
            List<String> found = new ArrayList<>(before);
            found.removeAll(waiting());
            if (!found.isEmpty()) {
                LOG.log(Level.INFO, "an address is known now for " + String.join(", ", found));
            }
            if (known.waiting.isEmpty()) {
                close();
            }
        } catch (RuntimeException e) { // a task that fails would not be repeated
            LOG.log(Level.ERROR, "looking up the members' names goes on after", e);
        }
    }

    @Override
    public synchronized void close() {
        if (thread != null) {
            var _ = thread.shutdownNow();
        }
    }
}
