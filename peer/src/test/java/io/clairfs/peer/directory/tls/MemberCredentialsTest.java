package io.clairfs.peer.directory.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.peer.Secret;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Instant;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whom a member accepts: two engines of TLS that hand each other their bytes. */
final class MemberCredentialsTest {
    private static final Secret SECRET = Secret.of("a secret of the group".getBytes(StandardCharsets.US_ASCII));
    private static final Secret OTHER = Secret.of("another secret, as long".getBytes(StandardCharsets.US_ASCII));
    private static final int BUFFER_BYTES = 64 << 10;
    private static final int MOST_STEPS = 1_000;

    private final MemberCredentials member = MemberCredentials.of(SECRET);

    private static boolean isOver(SSLEngine engine) {
        return engine.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING;
    }

    /** Runs the handshake, then sends one byte from the client to the server: the client of TLS 1.3 is done before the server has judged it. */
    private static void handshake(SSLEngine client, SSLEngine server) throws SSLException {
        ByteBuffer toServer = ByteBuffer.allocate(BUFFER_BYTES);
        ByteBuffer toClient = ByteBuffer.allocate(BUFFER_BYTES);
        client.beginHandshake();
        server.beginHandshake();
        for (int step = 0; !(isOver(client) && isOver(server)); step++) {
            assertThat(step).isLessThan(MOST_STEPS);
            step(client, toClient, toServer);
            step(server, toServer, toClient);
        }
        client.wrap(ByteBuffer.wrap(new byte[] {42}), toServer);
        ByteBuffer received = ByteBuffer.allocate(BUFFER_BYTES);
        toServer.flip();
        while (toServer.hasRemaining()) {
            server.unwrap(toServer, received);
        }
        assertThat(received.flip().get()).isEqualTo((byte) 42);
    }

    private static void step(SSLEngine engine, ByteBuffer in, ByteBuffer out) throws SSLException {
        switch (engine.getHandshakeStatus()) {
            case NEED_TASK -> {
                for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
                    task.run();
                }
            }
            case NEED_WRAP -> engine.wrap(ByteBuffer.allocate(0), out);
            case NEED_UNWRAP, NEED_UNWRAP_AGAIN, NOT_HANDSHAKING, FINISHED -> {
                in.flip();
                engine.unwrap(in, ByteBuffer.allocate(BUFFER_BYTES));
                in.compact();
            }
        }
    }

    @Test
    void sameSecret_isAccepted() throws Exception {
        SSLEngine client = MemberCredentials.of(SECRET).engine(true);
        SSLEngine server = member.engine(false);
        handshake(client, server);
        assertThat(server.getSession().getProtocol()).isEqualTo("TLSv1.3");
        assertThat(server.getSession().getPeerCertificates()).hasSize(1);
        assertThat(client.getSession().getPeerCertificates()[0])
                .as("each has a key of its own")
                .isNotEqualTo(server.getSession().getPeerCertificates()[0]);
    }

    @Test
    void otherSecret_isRefusedByTheClientToo() {
        assertThatThrownBy(() -> handshake(
                        member.engine(true), MemberCredentials.of(OTHER).engine(false)))
                .isInstanceOf(SSLException.class)
                .hasStackTraceContaining("does not know this group's secret");
    }

    @Test
    void clientThatAcceptsAnybody_andShowsACertificateOfAnotherSecret_isRefused() throws Exception {
        KeyPair pair = pair();
        X509Certificate own = MemberCertificate.of(pair, "0123456789abcdef");
        assertThatThrownBy(() -> handshake(credulous(pair, own), member.engine(false)))
                .isInstanceOf(SSLException.class)
                .hasStackTraceContaining("does not know this group's secret");
    }

    @Test
    void clientWithTheNameOfAMember_isRefused() throws Exception {
        String name = certificateOf(member).getSubjectX500Principal().getName().substring("CN=".length());
        KeyPair pair = pair();
        assertThatThrownBy(() -> handshake(credulous(pair, MemberCertificate.of(pair, name)), member.engine(false)))
                .isInstanceOf(SSLException.class)
                .hasStackTraceContaining("does not know this group's secret");
    }

    @Test
    void clientWithTheCertificateOfAMember_butNotItsKey_isRefused() throws Exception {
        X509Certificate stolen = certificateOf(member);
        assertThatThrownBy(() -> handshake(credulous(pair(), stolen), member.engine(false)))
                .isInstanceOf(SSLException.class);
    }

    @Test
    void clientWithoutACertificate_isRefused() throws Exception {
        SSLEngine client = credulous(null, null);
        assertThatThrownBy(() -> handshake(client, member.engine(false))).isInstanceOf(SSLException.class);
    }

    @Test
    void certificate_isSignedByItsKeyAndValidAtAllTimes() throws Exception {
        KeyPair pair = pair();
        X509Certificate certificate = MemberCertificate.of(pair, "name");
        certificate.verify(pair.getPublic());
        assertThat(certificate.getNotBefore()).isEqualTo(Instant.EPOCH);
        assertThat(certificate.getPublicKey()).isEqualTo(pair.getPublic());
        assertThat(certificate.getSubjectX500Principal().getName()).isEqualTo("CN=name");
    }

    private static KeyPair pair() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(256);
        return generator.generateKeyPair();
    }

    /** The certificate that a member shows to whoever connects. */
    private static X509Certificate certificateOf(MemberCredentials member) throws Exception {
        SSLEngine client = MemberCredentials.of(SECRET).engine(true);
        handshake(client, member.engine(false));
        return (X509Certificate) client.getSession().getPeerCertificates()[0];
    }

    /** A client that accepts any server. */
    private static SSLEngine credulous(@Nullable KeyPair pair, @Nullable X509Certificate certificate) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        if (pair != null && certificate != null) {
            store.setKeyEntry("own", pair.getPrivate(), new char[0], new Certificate[] {certificate});
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, new char[0]);
        SSLContext tls = SSLContext.getInstance("TLSv1.3");
        tls.init(keys.getKeyManagers(), new TrustManager[] {new Anybody()}, null);
        SSLEngine engine = tls.createSSLEngine();
        engine.setUseClientMode(true);
        return engine;
    }

    private static final class Anybody extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
