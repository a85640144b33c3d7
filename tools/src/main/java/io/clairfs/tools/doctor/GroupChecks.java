package io.clairfs.tools.doctor;

import io.clairfs.peer.Secret;
import io.clairfs.peer.directory.Discovery;
import io.clairfs.peer.directory.LocalAddress;
import io.clairfs.peer.directory.NameLookup;
import io.clairfs.peer.rails.CardAddress;
import io.clairfs.peer.rails.NetworkCard;
import io.clairfs.peer.rails.Rails;
import io.clairfs.peer.rails.Topology;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a group of nodes needs: names that resolve, ports that are free, a secret, a clock. */
final class GroupChecks implements Check {
    private static final int DEFAULT_PORT = 5701;
    private static final String ONE_OF_MANY = "kubernetes:";
    private static final String SLURM = "slurm";
    private static final String AUTO = "auto";
    private static final String NEW_SECRET =
            "head -c 32 /dev/urandom | base64 > FILE; chmod 600 FILE, the same on all nodes";

    @Override
    public List<Finding> look(Examined examined) throws IOException {
        List<Finding> found = new ArrayList<>();
        Wanted wanted = examined.wanted();
        if (wanted.bind() != null) {
            String bind = chosen(wanted.bind(), wanted.members(), examined.machine());
            found.add(bind == null ? addressToCome(wanted.members()) : address("bind", bind, examined, 2));
            found.addAll(members(wanted.members()));
            found.add(
                    wanted.secretFile() != null
                            ? secret(wanted.secretFile())
                            : bind == null
                                    ? noSecretYet(wanted.members())
                                    : noSecret(bind, wanted.rails(), examined.machine()));
            found.add(
                    examined.machine().isClockSynchronised()
                            ? Finding.ok("clock", "is synchronised")
                            : Finding.note(
                                    "clock",
                                    "is not synchronised, so lines of several nodes' logs do not compare; reads do not depend on it",
                                    "as root: timedatectl set-ntp true"));
        }
        if (wanted.metrics() != null) {
            found.add(address("metrics", wanted.metrics(), examined, 1));
        }
        return found;
    }

    /** The address that the mount would take now where {@code --bind} is auto; null while no way to another member is known here. */
    private static @Nullable String chosen(String bind, List<String> members, Machine machine) throws IOException {
        if (!bind.equals(AUTO) && !bind.startsWith(AUTO + ":")) {
            return bind;
        }
        Discovery others = discovery(members, machine);
        InetAddress address = others == null ? null : LocalAddress.known(others).orElse(null);
        if (address == null) {
            return null;
        }
        String host = address.getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host) + bind.substring(AUTO.length());
    }

    /** How the mount would find the others; null where that is known in the mount's own job alone. */
    private static @Nullable Discovery discovery(List<String> members, Machine machine) {
        String first = members.isEmpty() ? "" : members.getFirst();
        if (first.startsWith(ONE_OF_MANY)) {
            return new Discovery.Kubernetes(Map.of("service-dns", first.substring(ONE_OF_MANY.length())));
        }
        if (!first.equals(SLURM)) {
            return new Discovery.Members(members);
        }
        try {
            return Discovery.slurm(machine.environment());
        } catch (IllegalArgumentException noJob) {
            return null;
        }
    }

    /** Of an address that is chosen later. */
    private static Finding addressToCome(List<String> members) {
        return areKnownElsewhere(members)
                ? Finding.ok("bind", "auto: chosen where the mount is made, for no other member is known here")
                : Finding.note(
                        "bind",
                        "auto stands for no address yet: no way to another member is known, and the mount joins when one is",
                        "look whether a name server knows them, or give --bind ADDRESS");
    }

    private static boolean areKnownElsewhere(List<String> members) {
        return members.stream().allMatch(GroupChecks::isOneOfMany);
    }

    /** An address of this machine with so many free ports. */
    private static Finding address(String name, String text, Examined examined, int ports) throws IOException {
        InetSocketAddress at = parsed(text);
        if (at.isUnresolved()) {
            return Finding.problem(name, "no name server knows " + at.getHostString(), "an address of this machine");
        }
        InetAddress address = at.getAddress();
        if (!address.isAnyLocalAddress() && NetworkInterface.getByInetAddress(address) == null) {
            return Finding.problem(
                    name, at.getHostString() + " is not an address of this machine", "one of: hostname -I");
        }
        if (examined.running() == null) {
            for (int port = at.getPort(); port < at.getPort() + ports; port++) {
                String trouble = troubleOf(new InetSocketAddress(address, port));
                if (trouble != null) {
                    return Finding.problem(
                            name,
                            "port " + port + " of " + at.getHostString() + " " + trouble,
                            "ss -ltnp 'sport = :" + port + "', or another port");
                }
            }
        }
        return Finding.ok(name, at.getHostString() + ":" + at.getPort());
    }

    /** Why nobody could listen there now; null if he could. */
    private static @Nullable String troubleOf(InetSocketAddress at) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true); // closed connections of an earlier mount do not count
            socket.bind(at);
            return null;
        } catch (IOException e) {
            String reason = String.valueOf(e.getMessage());
            return reason.contains("Permission denied") ? "is for root alone" : "is in use";
        }
    }

    private static InetSocketAddress parsed(String text) {
        String host = host(text);
        int port = host.length() < text.length()
                ? Math.min(65_534, Integer.parseInt(text.substring(host.length() + 1)))
                : DEFAULT_PORT;
        return new InetSocketAddress(host, port);
    }

    /** The text without the port, if it has one. */
    private static String host(String text) {
        int colon = text.lastIndexOf(':');
        boolean hasPort =
                colon > 0 && !text.endsWith("]") && text.substring(colon + 1).matches("[0-9]{1,5}");
        return hasPort ? text.substring(0, colon) : text;
    }

    /** Whether it stands for members that are known where the mount is made. */
    private static boolean isOneOfMany(String member) {
        return member.startsWith(ONE_OF_MANY) || member.equals(SLURM);
    }

    /** All names are looked up at once: where no name server answers, each would take a while. */
    private static List<Finding> members(List<String> members) {
        List<Finding> found = new ArrayList<>();
        List<String> hosts = members.stream()
                .filter(member -> !isOneOfMany(member))
                .map(GroupChecks::host)
                .toList();
        Map<String, List<InetAddress>> known = NameLookup.of(hosts, InetAddress::getAllByName, NameLookup.WITHIN_MS);
        for (String host : hosts) {
            if (known.getOrDefault(host, List.of()).isEmpty()) {
                found.add(Finding.problem("members", "no name server knows " + host, "getent hosts " + host));
            }
        }
        return found.isEmpty() && !members.isEmpty() ? List.of(Finding.ok("members", "all names resolve")) : found;
    }

    /** Of a group on this address, with these rails, that has none. */
    private static Finding noSecret(String bind, List<String> rails, Machine machine) throws IOException {
        if (!isLoopback(parsed(bind).getHostString())) {
            return Finding.problem("secret", "a group beyond loopback needs --secret-file", NEW_SECRET);
        }
        String open = openRail(rails, machine);
        return open == null
                ? Finding.ok("secret", "not needed on loopback")
                : Finding.problem(
                        "secret",
                        "--rail serves samples on " + open + ", and a group beyond loopback needs --secret-file",
                        NEW_SECRET);
    }

    /** An address beyond loopback on which samples would be served beside that of {@code --bind}; null if there is none. */
    private static @Nullable String openRail(List<String> rails, Machine machine) throws IOException {
        if (!rails.equals(List.of(AUTO))) {
            return rails.stream().filter(rail -> !isLoopback(rail)).findFirst().orElse(null);
        }
        for (NetworkCard card : Topology.read(machine.root().resolve("sys")).cards()) {
            CardAddress address = card.isUp() ? Rails.addressOf(card) : null;
            if (address != null) {
                return address.address().getHostAddress();
            }
        }
        return null;
    }

    /** Of a group that has none and whose address is chosen later: a mount takes it for one beyond loopback. */
    private static Finding noSecretYet(List<String> members) {
        return areKnownElsewhere(members)
                ? Finding.note(
                        "secret",
                        "no other member is known here; a group beyond loopback needs --secret-file, or the mount is refused",
                        NEW_SECRET)
                : Finding.problem(
                        "secret",
                        "no way to another member is known, and while that is so a mount without --secret-file is refused",
                        NEW_SECRET);
    }

    private static Finding secret(Path file) throws IOException {
        try {
            Secret _ = Secret.read(file);
        } catch (IOException e) {
            return Finding.problem(
                    "secret", "cannot be used: " + e.getMessage(), "a file of 16 bytes or more, the same on all nodes");
        }
        return Secret.warning(file)
                .map(warning -> Finding.note("secret", file + " is open to others than its owner", "chmod 600 " + file))
                .orElse(Finding.ok("secret", file + " is its owner's alone"));
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
