package io.clairfs.cache.order.torch;

import io.clairfs.cache.order.FileLooks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.OrderFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Base64;

/**
 * The bytes of a torch generator's state as a user gives them: a file's name, or base64.
 *
 * <p>A sampler is made whenever somebody looks at its job, so a file that does not answer costs each of them a bounded wait.
 */
final class TorchStateFile {
    /** One for all: who asks about a file that hangs already is told at once. */
    private static final FileLooks LOOKS = new FileLooks();

    private static final int BASE64_LENGTH = Math.ceilDiv(TorchGenerator.STATE_BYTES, 3) * 4;

    private TorchStateFile() {}

    /**
     * A generator in this state.
     *
     * @throws io.clairfs.cache.order.OrderNotReadyException when the file does not answer in time
     */
    static TorchGenerator read(String fileOrBase64) throws InvalidSpecException {
        return read(fileOrBase64, LOOKS);
    }

    static TorchGenerator read(String fileOrBase64, FileLooks looks) throws InvalidSpecException {
        if (fileOrBase64.length() >= BASE64_LENGTH - 2) {
            try {
                return TorchGenerator.ofState(Base64.getDecoder().decode(fileOrBase64));
            } catch (IllegalArgumentException e) {
                throw new InvalidSpecException("state is neither a file's name nor base64: " + e.getMessage());
            }
        }
        return looks.of("state file", fileOrBase64, () -> ofFile(fileOrBase64));
    }

    private static TorchGenerator ofFile(String name) throws InvalidSpecException {
        try {
            Path file = Path.of(name);
            if (Files.exists(file) && !Files.isRegularFile(file)) { // a pipe could block the reader for ever
                throw new InvalidSpecException("state=" + Keys.shorten(name) + " is not a file");
            }
            return read(file);
        } catch (IOException | InvalidPathException e) {
            throw new InvalidSpecException("cannot read state=" + Keys.shorten(name) + ": " + OrderFile.reason(e));
        }
    }

    private static TorchGenerator read(Path file) throws IOException, InvalidSpecException {
        try (InputStream in = Files.newInputStream(file)) {
            return TorchGenerator.ofState(in.readNBytes(TorchGenerator.STATE_BYTES + 1));
        }
    }
}
