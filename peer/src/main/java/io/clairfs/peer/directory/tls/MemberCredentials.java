package io.clairfs.peer.directory.tls;

import io.clairfs.peer.Secret;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.util.HexFormat;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * How a member shows that it knows the secret, and how it judges others.
 *
 * <p>Each process makes a key pair of its own. The name in its certificate is an HMAC of the public key under the secret, so only who knows the
 * secret can make a certificate that others accept; TLS proves that the member also has the private key. A certificate that was seen elsewhere
 * is worth nothing without that. The keys of a connection come from a fresh exchange (X25519), so the secret, if it leaks later, opens no recording.
 */
final class MemberCredentials {
    private static final String PROTOCOL = "TLSv1.3";
    private static final String PURPOSE = "clairfs directory certificate";
    private static final char[] NO_PASSWORD = {};

    private final SSLContext tls;

    private MemberCredentials(SSLContext tls) {
        this.tls = tls;
    }

    static MemberCredentials of(Secret secret) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair pair = generator.generateKeyPair();
            X509Certificate certificate = MemberCertificate.of(pair, nameOf(pair.getPublic(), secret));
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("member", pair.getPrivate(), NO_PASSWORD, new Certificate[] {certificate});
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, NO_PASSWORD);
            SSLContext tls = SSLContext.getInstance(PROTOCOL);
            tls.init(keys.getKeyManagers(), new TrustManager[] {new Members(secret)}, null);
            return new MemberCredentials(tls);
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("this JDK has no TLS 1.3 with P-256: " + e.getMessage(), e);
        }
    }

    /** An engine for one connection, to begin with a handshake in which both sides show their certificates. */
    SSLEngine engine(boolean client) {
        SSLEngine engine = tls.createSSLEngine();
        engine.setEnabledProtocols(new String[] {PROTOCOL});
        engine.setUseClientMode(client);
        if (!client) {
            engine.setNeedClientAuth(true);
        }
        return engine;
    }

    private static String nameOf(PublicKey key, Secret secret) {
        return HexFormat.of().formatHex(secret.mac(PURPOSE, key.getEncoded()));
    }

    /** Accepts the certificates of members, whatever their age and address. */
    private static final class Members extends X509ExtendedTrustManager {
        private final Secret secret;

        Members(Secret secret) {
            this.secret = secret;
        }

        private void check(X509Certificate[] chain) throws CertificateException {
            byte[] expected = ("CN=" + nameOf(chain[0].getPublicKey(), secret)).getBytes(StandardCharsets.UTF_8);
            byte[] name = chain[0].getSubjectX500Principal().getName().getBytes(StandardCharsets.UTF_8);
            if (chain.length != 1 || !MessageDigest.isEqual(name, expected)) {
                throw new CertificateException("the other side does not know this group's secret");
            }
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            check(chain);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            check(chain);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            check(chain);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            check(chain);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            check(chain);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            check(chain);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
