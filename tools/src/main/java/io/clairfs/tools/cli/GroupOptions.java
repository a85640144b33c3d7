package io.clairfs.tools.cli;

import io.clairfs.peer.Secret;
import io.clairfs.peer.directory.Discovery;
import io.clairfs.peer.directory.LocalAddress;
import io.clairfs.peer.directory.Node;
import io.clairfs.peer.rails.Rails;
import io.clairfs.peer.transfer.TransferTls;
import io.clairfs.tools.config.MountFile;
import io.clairfs.tools.node.config.GroupConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of a mount that takes part in a group of nodes. */
final class GroupOptions {
    private static final String DEFAULT_PORT = "5701";
    private static final String AUTO = "auto";
    private static final String SLURM = "slurm";
    private static final String KUBERNETES = "kubernetes:";
    private static final String HOST = "[^:,\\s]+(:[0-9]{1,5})?|\\[[0-9a-fA-F:.]+](:[0-9]{1,5})?";
    private static final String SERVICE = "[A-Za-z0-9]([A-Za-z0-9.-]{0,252})";

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(
            names = "--members",
            paramLabel = "HOST[:PORT]",
            split = ",",
            description =
                    "Nodes that share their caches; the first one introduces the others. Or slurm: the nodes of this Slurm "
                            + "job. Or kubernetes:NAME: the pods of this headless service.")
    private List<String> members = new ArrayList<>();

    @Option(
            names = "--bind",
            paramLabel = "ADDRESS[:PORT]",
            description =
                    "This node's address in the group (default port: 5701); samples are served on the next port. Or auto: that "
                            + "from which it reaches the other members.")
    private @Nullable String bind;

    @Option(
            names = "--rail",
            paramLabel = "ADDRESS",
            split = ",",
            description =
                    "Addresses of this node on which samples are served and fetched, one for each network card (default: that of "
                            + "--bind): all nodes name theirs in the same order. Or auto: each card's own.")
    private List<String> rails = new ArrayList<>();

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description = "A file of at least 16 bytes, the same on all nodes; required beyond loopback.")
    private @Nullable Path secretFile;

    @Option(
            names = "--node-name",
            paramLabel = "NAME",
            description = "This node's name in the group (default: the address and port of --bind).")
    private @Nullable String nodeName;

    @Option(
            names = "--tls-certificate",
            paramLabel = "FILE",
            description = "This node's certificate chain, PEM; with it samples travel encrypted.")
    private @Nullable Path tlsCertificate;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "Its private key, PKCS#8 in PEM, not encrypted.")
    private @Nullable Path tlsKey;

    @Option(
            names = "--tls-authority",
            paramLabel = "FILE",
            description = "The certificate authorities of this group, PEM, and of nothing else.")
    private @Nullable Path tlsAuthority;

    /** The group's configuration. These options take precedence over the file. Null for a mount without a group. */
    @Nullable
    GroupConfig config(MountFile file) throws IOException {
        String at = bind == null ? file.bind() : bind;
        List<String> others = members.isEmpty() && file.members() != null ? file.members() : members;
        List<String> ways = rails.isEmpty() && file.rail() != null ? file.rail() : rails;
        Path secret = path(secretFile, file.secretFile());
        String name = nodeName == null ? file.nodeName() : nodeName;
        Path certificate = path(tlsCertificate, file.tlsCertificate());
        Path key = path(tlsKey, file.tlsKey());
        Path authority = path(tlsAuthority, file.tlsAuthority());
        boolean anyTls = certificate != null || key != null || authority != null;
        if (at == null) {
            check(
                    others.isEmpty() && secret == null && name == null && ways.isEmpty() && !anyTls,
                    "a group of nodes needs --bind");
            return null;
        }
        int port = port(at);
        Discovery found = discovery(others, port);
        InetSocketAddress address = address(at, port, found);
        List<InetAddress> cards = rails(ways);
        check(
                secret != null
                        || (!address.isUnresolved()
                                && Stream.concat(Stream.of(address.getAddress()), cards.stream())
                                        .allMatch(InetAddress::isLoopbackAddress)),
                "beyond loopback a group needs --secret-file, so that no stranger joins it");
        if (secret != null) {
            Secret _ = Secret.read(secret); // refuses an unusable secret now
        }
        GroupConfig.Tls tls = null;
        if (anyTls) {
            check(
                    Stream.of(certificate, key, authority).allMatch(Objects::nonNull),
                    "TLS needs all of --tls-certificate, --tls-key and --tls-authority");
            tls = new GroupConfig.Tls(
                    Objects.requireNonNull(certificate),
                    Objects.requireNonNull(key),
                    Objects.requireNonNull(authority));
            TransferTls _ = TransferTls.read(tls.certificate(), tls.key(), tls.authority()); // refuses bad PEM files
        }
        String called = name == null ? nameAt(at, address) : name;
        check(
                !called.isEmpty() && called.length() <= Node.MOST_NAME_LENGTH,
                "the node's name '" + called + "' must have 1 to " + Node.MOST_NAME_LENGTH
                        + " characters; give another one with --node-name");
        return new GroupConfig(called, address, found, secret, cards, tls);
    }

    private List<InetAddress> rails(List<String> ways) throws IOException {
        if (ways.equals(List.of(AUTO))) {
            return Rails.ofThisMachine().addresses();
        }
        check(ways.size() <= Node.MOST_RAILS, "--rail can be given " + Node.MOST_RAILS + " times at most");
        List<InetAddress> addresses = new ArrayList<>();
        for (String way : ways) {
            check(
                    way.matches("[0-9.]+|\\[?[0-9a-fA-F:.]*:[0-9a-fA-F:.]*]?"),
                    "--rail '" + way + "' must be an address of this machine; auto stands alone");
            InetAddress address = addressOf(way);
            check(
                    address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null,
                    "--rail '" + way + "' is no address of this machine: 'ip address' shows those it has");
            check(!addresses.contains(address), "--rail '" + way + "' is there twice");
            addresses.add(address);
        }
        return addresses;
    }

    private InetAddress addressOf(String rail) {
        try {
            return InetAddress.getByName(rail);
        } catch (UnknownHostException e) {
            throw new ParameterException(
                    spec.commandLine(), "--rail '" + rail + "' must be an address of this machine", e);
        }
    }

    private static @Nullable Path path(@Nullable Path onCommandLine, @Nullable String inFile) {
        return onCommandLine != null ? onCommandLine : inFile == null ? null : Path.of(inFile);
    }

    private static String nameAt(String bind, InetSocketAddress address) {
        return host(bind).equals(AUTO) ? GroupConfig.nameAt(address) : host(bind) + ":" + address.getPort();
    }

    /** Parses the port of {@code --bind}. An IPv6 address is in brackets, as in {@code --members}. */
    private int port(String text) {
        check(
                text.matches(HOST),
                "--bind '" + text
                        + "' must be ADDRESS or ADDRESS:PORT; an IPv6 address stands in brackets, such as [::1]");
        String host = host(text);
        String port = host.length() == text.length() ? DEFAULT_PORT : text.substring(host.length() + 1);
        check(
                Integer.parseInt(port) >= 1 && Integer.parseInt(port) < 65_535,
                "--bind '" + text + "' must have a port from 1 to 65534");
        return Integer.parseInt(port);
    }

    /** The address of {@code --bind}; with auto, one to come where no way to the others is known yet. */
    private InetSocketAddress address(String text, int port, Discovery others) throws IOException {
        if (host(text).equals(AUTO)) {
            return LocalAddress.known(others)
                    .map(here -> new InetSocketAddress(here, port))
                    .orElseGet(() -> GroupConfig.addressToCome(port));
        }
        InetSocketAddress address = new InetSocketAddress(host(text), port);
        check(
                !address.isUnresolved() && !address.getAddress().isAnyLocalAddress(),
                "--bind '" + text + "' must be one address of this machine");
        return address;
    }

    /** The text without the port. Brackets stay. */
    private static String host(String bind) {
        int colon = bind.lastIndexOf(':');
        return colon < 0 || bind.endsWith("]") ? bind : bind.substring(0, colon);
    }

    private Discovery discovery(List<String> others, int port) {
        boolean isOne = others.size() == 1;
        if (isOne && others.getFirst().equals(SLURM)) {
            try {
                return Discovery.slurm(System.getenv());
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), "--members slurm: " + e.getMessage(), e);
            }
        }
        if (isOne && others.getFirst().startsWith(KUBERNETES)) {
            String service = others.getFirst().substring(KUBERNETES.length());
            check(
                    service.matches(SERVICE),
                    "--members '" + others.getFirst()
                            + "' must be kubernetes:NAME, such as kubernetes:clairfs.default.svc.cluster.local");
            return new Discovery.Kubernetes(Map.of("service-dns", service, "service-port", Integer.toString(port)));
        }
        for (String host : others) {
            check(
                    host.matches(HOST) && !host.startsWith(KUBERNETES),
                    "--members '" + host + "' must be HOST or HOST:PORT; slurm and kubernetes:NAME stand alone");
        }
        return new Discovery.Members(others);
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
