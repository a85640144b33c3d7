package io.clairfs.peer.directory.tls;

import com.hazelcast.cluster.Address;
import com.hazelcast.instance.EndpointQualifier;
import com.hazelcast.instance.impl.DefaultNodeContext;
import com.hazelcast.instance.impl.DefaultNodeExtension;
import com.hazelcast.instance.impl.Node;
import com.hazelcast.instance.impl.NodeExtension;
import com.hazelcast.internal.networking.Channel;
import com.hazelcast.internal.networking.ChannelInitializer;
import com.hazelcast.internal.server.Server;
import com.hazelcast.internal.server.ServerConnection;
import com.hazelcast.internal.server.ServerContext;
import com.hazelcast.internal.server.tcp.LocalAddressRegistry;
import com.hazelcast.internal.server.tcp.ServerSocketRegistry;
import com.hazelcast.spi.impl.executionservice.impl.ExecutionServiceImpl;
import io.clairfs.peer.Handshakes;
import io.clairfs.peer.Secret;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A Hazelcast member that talks in TLS only, and only to members that know the secret; one without a secret talks openly. Used as the context of
 * {@code HazelcastInstanceFactory.newHazelcastInstance}; one for each member.
 *
 * <p>An address where somebody answers who is no member of this group counts as one where nobody answers. Hazelcast by itself would ask it until
 * the join is given up.
 */
public final class GroupNodeContext extends DefaultNodeContext {
    private static final Logger LOG = System.getLogger(GroupNodeContext.class.getName());

    /** How many addresses of strangers are named in the log, each once. */
    private static final int MOST_STRANGERS = 100;

    /**
     * Connections that others have made here and whose handshakes are under way: twice as many as a group of 256 makes when all its members join at once. Each
     * takes 80 KiB.
     */
    private static final int MOST_HANDSHAKES = 512;

    private static final int MOST_LOOKS = 1_000;
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final @Nullable MemberCredentials credentials;
    private final int handshakeSeconds;
    private final Handshakes<TlsConnection> handshakes;
    private final Set<String> strangers = ConcurrentHashMap.newKeySet();

    /**
     * Makes a key pair and its certificate, which takes some milliseconds.
     *
     * @param secret that all members know; null for a group that talks openly
     * @param handshakeSeconds a connection whose handshake takes longer is closed
     * @throws IllegalStateException if the JDK lacks TLS 1.3
     */
    public GroupNodeContext(@Nullable Secret secret, int handshakeSeconds) {
        this(secret, handshakeSeconds, MOST_HANDSHAKES);
    }

    /** The same with another bound of the handshakes under way; the oldest goes for one more. */
    public GroupNodeContext(@Nullable Secret secret, int handshakeSeconds, int mostHandshakes) {
        handshakes = new Handshakes<>(mostHandshakes);
        credentials = secret == null ? null : MemberCredentials.of(secret);
        this.handshakeSeconds = handshakeSeconds;
    }

    @Override
    public NodeExtension createNodeExtension(Node node) {
        return new Extension(node);
    }

    /**
     * Hazelcast looks ten times a second, on two threads, for futures that maps with a store, its console and its jobs wait for. Nothing here makes
     * one, and an idle node is not to be woken for that. Until the server is there it is the only task.
     */
    @Override
    public Server createServer(Node node, ServerSocketRegistry sockets, LocalAddressRegistry addresses) {
        if (node.getNodeEngine().getExecutionService() instanceof ExecutionServiceImpl execution
                && !forgetOnlyTask(execution.getScheduledExecutorService())) {
            LOG.log(Level.DEBUG, "an idle member looks ten times a second for futures that nothing makes");
        }
        return super.createServer(node, sockets, addresses);
    }

    /** Removes the one task that is scheduled. It may be running just now, and is not in the queue then. Returns whether it is removed. */
    static boolean forgetOnlyTask(ScheduledThreadPoolExecutor scheduler) {
        for (int look = 0; look < MOST_LOOKS; look++) {
            if (scheduler.getQueue().size() > 1) {
                return false;
            }
            if (scheduler.getQueue().peek() instanceof RunnableScheduledFuture<?> task && scheduler.remove(task)) {
                return true;
            }
            LockSupport.parkNanos(LOOK_NS);
        }
        return false;
    }

    private final class Extension extends DefaultNodeExtension {
        Extension(Node node) {
            super(node);
        }

        @Override
        public Function<EndpointQualifier, ChannelInitializer> createChannelInitializerFn(ServerContext context) {
            Function<EndpointQualifier, ChannelInitializer> plain = super.createChannelInitializerFn(context);
            return endpoint -> {
                if (!EndpointQualifier.MEMBER.equals(endpoint)) {
                    throw new IllegalStateException(endpoint + ": only members may connect");
                }
                ChannelInitializer members = plain.apply(endpoint);
                return channel -> begin(channel, members, context);
            };
        }

        private void begin(Channel channel, ChannelInitializer members, ServerContext context) throws Exception {
            if (credentials == null) {
                members.initChannel(channel);
                whenClosed(channel, context, null);
                return;
            }
            SSLEngine engine = credentials.engine(channel.isClientMode());
            TlsConnection tls = new TlsConnection(engine, channel, handshakes::end);
            channel.inboundPipeline().addLast(tls.inbound());
            members.initChannel(channel);
            channel.outboundPipeline().addLast(tls.outbound());
            whenClosed(channel, context, tls);
            if (!channel.isClientMode()) {
                closeOldestFor(tls);
            }
            var begun = new WeakReference<>(tls); // what is closed sooner is garbage sooner
            var _ = node.getNodeEngine()
                    .getExecutionService()
                    .schedule(() -> closeUnlessEstablished(begun.get()), handshakeSeconds, TimeUnit.SECONDS);
        }
    }

    private void closeOldestFor(TlsConnection tls) {
        TlsConnection oldest = handshakes.begin(tls);
        tls.channel().addCloseListener(_ -> handshakes.end(tls));
        if (oldest != null) {
            closeUnlessEstablished(oldest, "too many connections without a TLS handshake");
        }
    }

    private void closeUnlessEstablished(@Nullable TlsConnection tls) {
        if (tls != null) {
            closeUnlessEstablished(tls, "no TLS handshake within " + handshakeSeconds + " s");
        }
    }

    private static void closeUnlessEstablished(TlsConnection tls, String reason) {
        if (!tls.isEstablished()
                && tls.channel().attributeMap().get(ServerConnection.class) instanceof ServerConnection connection) {
            connection.close(reason, null);
        }
    }

    /** Names a stranger in the log; tells Hazelcast of an address where this member has met one. */
    private void whenClosed(Channel channel, ServerContext context, @Nullable TlsConnection tls) {
        if (!(channel.attributeMap().get(ServerConnection.class) instanceof ServerConnection connection)) {
            return;
        }
        boolean ours = channel.isClientMode();
        InetAddress from = connection.getInetAddress();
        String host = from == null ? "an unknown address" : from.getHostAddress();
        channel.addCloseListener(closed -> {
            Address address = connection.getRemoteAddress();
            boolean met = tls == null ? !ours || closed.bytesRead() > 0 : tls.isEstablished();
            if (met) {
                return;
            }
            String reason = reason(tls == null ? null : tls.failure());
            if (!ours) {
                warnOnce(host, "a connection from " + host + " was refused: " + reason);
            } else if (address != null) {
                warnOnce(address.toString(), address + " is not of this group: " + reason);
                context.onFailedConnection(address);
            }
        });
    }

    private void warnOnce(String stranger, String warning) {
        if (strangers.size() < MOST_STRANGERS && strangers.add(stranger)) {
            LOG.log(Level.WARNING, warning);
        }
    }

    private static String reason(@Nullable SSLException failure) {
        return failure == null ? "it closed the connection" : String.valueOf(failure.getMessage());
    }
}
