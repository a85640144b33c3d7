package io.clairfs.peer.directory.tls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;

/**
 * A certificate in its shortest form (X.509 version 1, RFC 5280 section 4.1): a name, a public key, signed with its own private key. The JDK reads
 * certificates but has no public class that makes one.
 */
final class MemberCertificate {
    private static final int INTEGER = 0x02;
    private static final int BIT_STRING = 0x03;
    private static final int OBJECT_IDENTIFIER = 0x06;
    private static final int PRINTABLE_STRING = 0x13;
    private static final int UTC_TIME = 0x17;
    private static final int GENERALIZED_TIME = 0x18;
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;

    private static final String SIGNATURE = "SHA256withECDSA";
    private static final byte[] ECDSA_WITH_SHA256 = {0x2A, (byte) 0x86, 0x48, (byte) 0xCE, 0x3D, 4, 3, 2};
    private static final byte[] COMMON_NAME = {0x55, 4, 3};
    private static final byte[] NO_UNUSED_BITS = {0};
    private static final byte[] ONE = {1};

    private MemberCertificate() {}

    /**
     * A certificate of {@code pair} (elliptic curve) for a name of 1 to 64 letters and digits. It is valid at all times: a wall clock may jump, and
     * the pair lives no longer than its process.
     */
    static X509Certificate of(KeyPair pair, String commonName) throws GeneralSecurityException {
        byte[] algorithm = der(SEQUENCE, der(OBJECT_IDENTIFIER, ECDSA_WITH_SHA256));
        byte[] name = der(
                SEQUENCE,
                der(SET, der(SEQUENCE, der(OBJECT_IDENTIFIER, COMMON_NAME), der(PRINTABLE_STRING, ascii(commonName)))));
        byte[] always =
                der(SEQUENCE, der(UTC_TIME, ascii("700101000000Z")), der(GENERALIZED_TIME, ascii("99991231235959Z")));
        byte[] key = pair.getPublic().getEncoded();
        byte[] signed = der(SEQUENCE, der(INTEGER, ONE), algorithm, name, always, name, key);
        Signature signature = Signature.getInstance(SIGNATURE);
        signature.initSign(pair.getPrivate());
        signature.update(signed);
        byte[] whole = der(SEQUENCE, signed, algorithm, der(BIT_STRING, NO_UNUSED_BITS, signature.sign()));
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(whole));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** One element: its tag, its length, the parts one after the other. */
    private static byte[] der(int tag, byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        out.write(tag);
        if (length < 0x80) {
            out.write(length);
        } else if (length < 0x100) {
            out.write(0x81);
            out.write(length);
        } else {
            out.write(0x82);
            out.write(length >> 8);
            out.write(length);
        }
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }
}
