package io.clairfs.peer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A secret that only the nodes of one group know. It never leaves this object: it is only the key of an HMAC-SHA256
 * over a purpose and data, so an answer for one purpose is worth nothing for another.
 */
public final class Secret {
    /** Fewer bytes could be guessed by trying. */
    public static final int LEAST_BYTES = 16;

    public static final int MOST_BYTES = 4096;
    public static final int MAC_BYTES = 32;

    /** Schedulers give a secret to a job by the group's read permission, so that one is left out. */
    private static final Set<PosixFilePermission> FOR_OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE);

    private final byte[] key;

    private Secret(byte[] key) {
        this.key = key;
    }

    /** A secret of {@value #LEAST_BYTES} to {@value #MOST_BYTES} bytes. */
    public static Secret of(byte[] bytes) {
        if (bytes.length < LEAST_BYTES || bytes.length > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "a secret has " + LEAST_BYTES + " to " + MOST_BYTES + " bytes, not " + bytes.length);
        }
        return new Secret(bytes.clone());
    }

    /** Reads a file, without its trailing line ends; an {@link IOException} says what is wrong with the file. */
    public static Secret read(Path file) throws IOException {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MOST_BYTES + 2);
        }
        int end = bytes.length;
        while (end > 0 && (bytes[end - 1] == '\n' || bytes[end - 1] == '\r')) {
            end--;
        }
        try {
            return of(Arrays.copyOf(bytes, end));
        } catch (IllegalArgumentException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    /** What is wrong with the file's permissions, in one line with the remedy; empty if nothing is. */
    public static Optional<String> warning(Path file) {
        try {
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
            permissions.retainAll(FOR_OTHERS);
            return permissions.isEmpty()
                    ? Optional.empty()
                    : Optional.of("the secret in " + file + " is open to others than its owner: chmod 600 " + file);
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.empty(); // reading it says what is wrong
        }
    }

    /** HMAC-SHA256 over the purpose and the parts, each with its length before it. */
    public byte[] mac(String purpose, byte[]... parts) {
        return mac(key, purpose, parts);
    }

    /** The same with a key that all know, for a group without a secret: it proves nothing and keeps the message format. */
    public static byte[] openMac(String purpose, byte[]... parts) {
        return mac(new byte[MAC_BYTES], purpose, parts);
    }

    private static byte[] mac(byte[] key, String purpose, byte[]... parts) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            add(mac, purpose.getBytes(StandardCharsets.UTF_8));
            for (byte[] part : parts) {
                add(mac, part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every JDK has HmacSHA256", e);
        }
    }

    private static void add(Mac mac, byte[] part) {
        mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(part.length).array());
        mac.update(part);
    }

    @Override
    public String toString() {
        return "a secret of " + key.length + " bytes";
    }
}
