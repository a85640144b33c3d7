package io.clairfs.peer.directory;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of the members that this node is told of. While a name has none they are looked up again and again: when nodes start together, a name server may
 * not answer, or not know all of them yet. Hazelcast reads the addresses at each join and at each search for another half of the group, so a node that began alone meets
 * the others when a name of theirs has an address. As a node may come back with another address, all names are looked up again when Hazelcast has read the addresses, for
 * its next search.
 *
 * <p>Names are looked up here because Hazelcast itself would keep only those addresses that are on the interface that it binds to, which is this node's own
 * (5.7.0, {@code TcpIpJoiner.getPossibleAddresses}).
 *
 * <p>Life cycle: {@link GroupMembership} makes it, has it look up once before the join, then {@link #begin begins} it, and closes it. It has a thread while a
 * name is without an address, or names are looked up.
 */
final class MemberNames implements AutoCloseable {
    private static final Logger LOG = System.getLogger(MemberNames.class.getName());
    private static final int IDLE_SECONDS = 5;

    /** Those that are no names. */
    private final List<String> addresses;

    private final List<Named> names;
    private final NameLookup.Servers servers;

    /** The last addresses of each name that has had one. */
    private volatile Map<Named, List<String>> known = Map.of();

    private volatile @Nullable ScheduledThreadPoolExecutor thread;
    private volatile long lookedNs = System.nanoTime();
    private volatile long everyNs;

    // Guarded by the lock.
    private @Nullable ScheduledFuture<?> repeated;

    /** A member {@code as} it was named, such as {@code node7}; its port is {@code :5701}. */
    private record Named(String as, String host, String port) {}

    private MemberNames(List<String> addresses, List<Named> names, NameLookup.Servers servers) {
        this.addresses = List.copyOf(addresses);
        this.names = List.copyOf(names);
        this.servers = servers;
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
        List<String> all = new ArrayList<>(addresses);
        Map<Named, List<String>> now = known;
        names.forEach(name -> all.addAll(now.getOrDefault(name, List.of())));
        lookUpForNextTime();
        return List.copyOf(all);
    }

    /** The members that have no address yet, as they were named. */
    List<String> waiting() {
        Map<Named, List<String>> now = known;
        return names.stream()
                .filter(name -> !now.containsKey(name))
                .map(Named::as)
                .toList();
    }

    /** Looks up all names, once, within {@link NameLookup#WITHIN_MS}. One for which there is no answer keeps the addresses that it had. */
    synchronized void lookUp() {
        List<String> hosts = names.stream().map(Named::host).toList();
        Map<String, List<InetAddress>> found = NameLookup.of(hosts, servers, NameLookup.WITHIN_MS);
        Map<Named, List<String>> now = new HashMap<>(known);
        for (Named name : names) {
            List<String> here = found.getOrDefault(name.host, List.of()).stream()
                    .map(address -> inBrackets(address) + name.port)
                    .toList();
            if (!here.isEmpty()) {
                List<String> before = now.put(name, here);
                if (before != null && !before.equals(here)) {
                    LOG.log(Level.INFO, name.as + " has another address now: " + String.join(", ", here));
                }
            }
        }
        known = Map.copyOf(now);
        lookedNs = System.nanoTime();
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

    /**
     * From now on the names are looked up again {@code everyS} seconds after the last look-up while one of them has no address, and otherwise when their addresses
     * have been read and are that old.
     */
    synchronized void begin(int everyS) {
        if (names.isEmpty()) {
            return;
        }
        ScheduledThreadPoolExecutor lookUps = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("clairfs-names").factory());
        lookUps.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        lookUps.allowCoreThreadTimeOut(true);
        lookUps.setRemoveOnCancelPolicy(true);
        everyNs = TimeUnit.SECONDS.toNanos(everyS);
        thread = lookUps;
        if (!waiting().isEmpty()) {
            LOG.log(
                    Level.WARNING,
                    "no address is known for " + String.join(", ", waiting()) + ": looked up again every " + everyS
                            + " s, until there is one");
            repeated = lookUps.scheduleWithFixedDelay(this::lookUpAgain, everyS, everyS, TimeUnit.SECONDS);
        }
    }

    /** Nobody who reads addresses waits for a name server. */
    private void lookUpForNextTime() {
        ScheduledThreadPoolExecutor lookUps = thread;
        long now = System.nanoTime();
        if (lookUps == null || now - lookedNs < everyNs) {
            return;
        }
        lookedNs = now;
        try {
            lookUps.execute(this::lookUp);
        } catch (RejectedExecutionException closed) {
            LOG.log(Level.TRACE, "nobody needs the addresses any more", closed);
        }
    }

    private void lookUpAgain() {
        try {
            List<String> found = new ArrayList<>(waiting());
            lookUp();
            found.removeAll(waiting());
            if (!found.isEmpty()) {
                LOG.log(Level.INFO, "an address is known now for " + String.join(", ", found));
            }
            if (waiting().isEmpty()) {
                endRepeating();
            }
        } catch (RuntimeException e) { // a task that fails would not be repeated
            LOG.log(Level.ERROR, "looking up the members' names goes on after", e);
        }
    }

    private synchronized void endRepeating() {
        if (repeated != null) {
            boolean _ = repeated.cancel(false);
        }
    }

    @Override
    public void close() {
        ScheduledThreadPoolExecutor lookUps = thread;
        if (lookUps != null) {
            var _ = lookUps.shutdownNow();
        }
    }
}
