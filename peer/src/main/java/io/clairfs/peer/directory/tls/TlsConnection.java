package io.clairfs.peer.directory.tls;

import com.hazelcast.internal.networking.Channel;
import com.hazelcast.internal.networking.HandlerStatus;
import com.hazelcast.internal.networking.InboundHandler;
import com.hazelcast.internal.networking.OutboundHandler;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * TLS of one connection between two members: {@link #inbound} comes first of the handlers of received bytes, {@link #outbound} last of those of
 * bytes to send.
 *
 * <p>Hazelcast runs the two handlers in different threads. In the handshake one often waits for the other. A handler that waits returns
 * {@code BLOCKED}, so it is not called again for its socket, and the other wakes it: the mark that it waits is set, and looked at, under the
 * lock of this connection, and Hazelcast runs a wake-up after the call in which the handler blocked. Nothing of Hazelcast passes before the
 * handshake has shown each side the certificate of the other. A damaged or foreign record makes the engine throw, and Hazelcast closes the
 * connection.
 */
final class TlsConnection {
    /** Room for encrypted bytes in each direction: a record of TLS, of 16 KiB, and most of the next. A member has one such connection to every other. */
    private static final int BUFFER_BYTES = 32 << 10;

    private final SSLEngine engine;
    private final Channel channel;
    private final Consumer<TlsConnection> whenEstablished;
    private final InboundHandler<ByteBuffer, ByteBuffer> inbound = new Inbound();
    private final OutboundHandler<ByteBuffer, ByteBuffer> outbound = new Outbound();

    /** Decrypted bytes that the next handler has not taken; ready to be read. */
    private final ByteBuffer decrypted;

    private boolean inboundWaits;
    private boolean outboundWaits;
    private boolean established;
    private @Nullable SSLException failure;

    /** {@code whenEstablished} is called once, when the handshake has succeeded, on a thread of the network. */
    TlsConnection(SSLEngine engine, Channel channel, Consumer<TlsConnection> whenEstablished) throws SSLException {
        this.engine = engine;
        this.channel = channel;
        this.whenEstablished = whenEstablished;
        decrypted = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize())
                .limit(0);
        engine.beginHandshake();
    }

    InboundHandler<ByteBuffer, ByteBuffer> inbound() {
        return inbound;
    }

    OutboundHandler<ByteBuffer, ByteBuffer> outbound() {
        return outbound;
    }

    Channel channel() {
        return channel;
    }

    /** Whether the handshake has succeeded. */
    synchronized boolean isEstablished() {
        return established;
    }

    /** Why the engine refused to go on; null if it did not. */
    synchronized @Nullable SSLException failure() {
        return failure;
    }

    /** What to throw: strangers must not fill the log, and Hazelcast logs an end of file at INFO, everything else as a warning. */
    private synchronized IOException refusal(SSLException e) {
        failure = e;
        return established ? e : (IOException) new EOFException("no TLS handshake: " + e.getMessage()).initCause(e);
    }

    private synchronized HandlerStatus decrypt(ByteBuffer encrypted, ByteBuffer next)
            throws SSLException, EOFException {
        while (true) {
            if (decrypted.hasRemaining()) {
                int taken = Math.min(decrypted.remaining(), next.remaining());
                next.put(decrypted.slice(decrypted.position(), taken));
                decrypted.position(decrypted.position() + taken);
                if (decrypted.hasRemaining()) {
                    // Called again at once if the next handler may have made room. One that takes nothing is about to
                    // close the connection.
                    return taken > 0 ? HandlerStatus.DIRTY : HandlerStatus.BLOCKED;
                }
            }
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> runTasks();
                case NEED_WRAP -> {
                    wakeOutbound();
                    if (!established) {
                        inboundWaits = true;
                        return HandlerStatus.BLOCKED;
                    }
                    if (!unwrap(encrypted)) {
                        return HandlerStatus.CLEAN;
                    }
                }
                case NOT_HANDSHAKING, FINISHED -> {
                    establish();
                    if (!unwrap(encrypted)) {
                        return HandlerStatus.CLEAN;
                    }
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    if (!unwrap(encrypted)) {
                        return HandlerStatus.CLEAN;
                    }
                }
            }
        }
    }

    /** Decrypts one record; false if it is not complete. */
    private boolean unwrap(ByteBuffer encrypted) throws SSLException, EOFException {
        if (!encrypted.hasRemaining()) {
            return false;
        }
        decrypted.clear();
        SSLEngineResult result = engine.unwrap(encrypted, decrypted);
        decrypted.flip();
        return switch (result.getStatus()) {
            case OK -> true;
            case BUFFER_UNDERFLOW -> false;
            case BUFFER_OVERFLOW -> throw new SSLException("a record is larger than TLS allows");
            case CLOSED -> throw new EOFException("the other side has ended TLS");
        };
    }

    private synchronized HandlerStatus encrypt(ByteBuffer plain, ByteBuffer encrypted)
            throws SSLException, EOFException {
        while (true) {
            switch (engine.getHandshakeStatus()) {
                case NEED_TASK -> {
                    runTasks();
                    continue;
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    wakeInbound();
                    if (!established) {
                        outboundWaits = true;
                        return HandlerStatus.BLOCKED;
                    }
                }
                case NOT_HANDSHAKING, FINISHED -> {
                    establish();
                    wakeInbound();
                    if (!plain.hasRemaining()) {
                        return HandlerStatus.CLEAN;
                    }
                }
                case NEED_WRAP -> {}
            }
            switch (engine.wrap(plain, encrypted).getStatus()) {
                case OK -> {}
                case BUFFER_OVERFLOW -> {
                    return HandlerStatus.DIRTY;
                }
                case BUFFER_UNDERFLOW -> throw new SSLException("TLS lacks bytes to send");
                case CLOSED -> throw new EOFException("TLS has ended");
            }
        }
    }

    private void establish() {
        if (!established) {
            established = true;
            whenEstablished.accept(this);
            if (outboundWaits) {
                wakeOutbound();
            }
        }
    }

    /** Computes and checks signatures, in the thread that came first: some milliseconds, once for each connection. */
    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    private void wakeInbound() {
        if (inboundWaits) {
            inboundWaits = false;
            channel.inboundPipeline().wakeup();
        }
    }

    private void wakeOutbound() {
        outboundWaits = false;
        channel.outboundPipeline().wakeup();
    }

    /** Hazelcast leaves a source of received bytes ready to be filled, and bytes to send ready to be read. */
    private final class Inbound extends InboundHandler<ByteBuffer, ByteBuffer> {
        @Override
        public void handlerAdded() {
            initSrcBuffer(BUFFER_BYTES);
        }

        @Override
        public HandlerStatus onRead() throws IOException {
            src.flip();
            try {
                return decrypt(src, dst);
            } catch (SSLException e) {
                throw refusal(e);
            } finally {
                src.compact();
            }
        }
    }

    private final class Outbound extends OutboundHandler<ByteBuffer, ByteBuffer> {
        @Override
        public void handlerAdded() {
            initDstBuffer(BUFFER_BYTES);
        }

        @Override
        public HandlerStatus onWrite() throws IOException {
            dst.compact();
            try {
                return encrypt(src, dst);
            } catch (SSLException e) {
                throw refusal(e);
            } finally {
                dst.flip();
            }
        }
    }
}
