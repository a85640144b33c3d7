package io.clairfs.peer.transfer;

import io.netty.channel.Channel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Encryption in both directions, made from PEM files. Each side must show a certificate that the given authority signed;
 * names in certificates are not compared with addresses, so the authority should sign for this group of nodes only.
 */
public final class TransferTls {
    private final SslContext server;
    private final SslContext client;

    private TransferTls(SslContext server, SslContext client) {
        this.server = server;
        this.client = client;
    }

    /**
     * Reads the files.
     *
     * @param certificate this node's chain, PEM
     * @param key its private key, PKCS#8 in PEM, not encrypted
     * @param authority the certificates that sign for all nodes, PEM
     * @throws IOException if a file cannot be read or does not hold what it should
     */
    public static TransferTls read(Path certificate, Path key, Path authority) throws IOException {
        for (Path file : new Path[] {certificate, key, authority}) {
            if (!Files.isReadable(file)) {
                throw new IOException(file + ": cannot be read");
            }
        }
        try {
            SslContext server = SslContextBuilder.forServer(certificate.toFile(), key.toFile())
                    .trustManager(authority.toFile())
                    .clientAuth(ClientAuth.REQUIRE)
                    .protocols("TLSv1.3")
                    .build();
            SslContext client = SslContextBuilder.forClient()
                    .keyManager(certificate.toFile(), key.toFile())
                    .trustManager(authority.toFile())
                    .endpointIdentificationAlgorithm(null)
                    .protocols("TLSv1.3")
                    .build();
            return new TransferTls(server, client);
        } catch (IllegalArgumentException e) {
            throw new IOException("TLS: " + e.getMessage(), e);
        }
    }

    public SslHandler serverHandler(Channel channel, int timeoutMs) {
        return bounded(server.newHandler(channel.alloc()), timeoutMs);
    }

    public SslHandler clientHandler(Channel channel, int timeoutMs) {
        return bounded(client.newHandler(channel.alloc()), timeoutMs);
    }

    private static SslHandler bounded(SslHandler handler, int timeoutMs) {
        handler.setHandshakeTimeoutMillis(timeoutMs);
        return handler;
    }
}
