package io.clairfs.peer.transfer;

import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;

/**
 * The messages with which two nodes prove to each other that they know the secret and have the same dataset.
 *
 * <pre>
 * client -> server  greeting: magic, version, 0, fingerprint, nonce
 * server -> client  greeting: magic, version, refusal, fingerprint, nonce
 * client -> server  HMAC("client", version, both fingerprints, both nonces)
 * server -> client  refusal, HMAC("server", the same)
 * </pre>
 *
 * <p>The client proves itself first, so that a stranger who connects gets nothing to test guesses on. The role is signed too,
 * so that no proof can be sent back to its sender. Every message has a fixed length, and the first
 * eight bytes mean the same in all versions.
 */
public final class Handshake {
    static final int MAGIC = 0x434C4652;
    public static final int VERSION = 2;
    static final int NONCE_BYTES = 32;
    public static final int GREETING_BYTES = 8 + Fingerprint.BYTES + NONCE_BYTES;
    public static final int VERDICT_BYTES = 2 + Secret.MAC_BYTES;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final @Nullable Secret secret;
    private final Fingerprint fingerprint;
    private final byte[] nonce = new byte[NONCE_BYTES];

    public Handshake(Credentials credentials) {
        secret = credentials.secret();
        fingerprint = credentials.fingerprint();
        RANDOM.nextBytes(nonce);
    }

    /** The other side's greeting. */
    public record Greeting(int magic, int version, Refusal refusal, Fingerprint fingerprint, byte[] nonce) {
        static Greeting read(ByteBuf in) {
            int magic = in.readInt();
            int version = in.readUnsignedShort();
            Refusal refusal = Refusal.of(in.readUnsignedShort());
            byte[] fingerprint = new byte[Fingerprint.BYTES];
            in.readBytes(fingerprint);
            byte[] nonce = new byte[NONCE_BYTES];
            in.readBytes(nonce);
            return new Greeting(magic, version, refusal, Fingerprint.of(fingerprint), nonce);
        }
    }

    public void writeGreeting(ByteBuf out, Refusal refusal) {
        out.writeInt(MAGIC).writeShort(VERSION).writeShort(refusal.ordinal());
        out.writeBytes(fingerprint.bytes()).writeBytes(nonce);
    }

    public boolean sameDataset(Greeting other) {
        return fingerprint.equals(other.fingerprint());
    }

    /** This client's proof, for the server with this greeting. */
    public byte[] clientProof(Greeting server) {
        return proof("clairfs transfer client", fingerprint, server.fingerprint(), nonce, server.nonce());
    }

    /** This server's proof, for the client with this greeting. */
    public byte[] serverProof(Greeting client) {
        return proof("clairfs transfer server", client.fingerprint(), fingerprint, client.nonce(), nonce);
    }

    /** Whether {@code proof} shows that the client knows the secret. */
    public boolean provesClient(Greeting client, byte[] proof) {
        return MessageDigest.isEqual(
                proof, proof("clairfs transfer client", client.fingerprint(), fingerprint, client.nonce(), nonce));
    }

    /** Whether {@code proof} shows that the server knows the secret. */
    public boolean provesServer(Greeting server, byte[] proof) {
        return MessageDigest.isEqual(
                proof, proof("clairfs transfer server", fingerprint, server.fingerprint(), nonce, server.nonce()));
    }

    private byte[] proof(String role, Fingerprint client, Fingerprint server, byte[] clientNonce, byte[] serverNonce) {
        byte[] version = ByteBuffer.allocate(Integer.BYTES).putInt(VERSION).array();
        byte[][] parts = {version, client.bytes(), server.bytes(), clientNonce, serverNonce};
        return secret == null ? Secret.openMac(role, parts) : secret.mac(role, parts);
    }
}
