package io.clairfs.tools;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/** States of torch's CPU generator. */
public final class TorchStates {
    private static final int BYTES = 5056;
    private static final int WORDS = 624;

    private TorchStates() {}

    /** Writes one, as {@code torch.get_rng_state()} tells it. */
    public static void write(Path file) throws IOException {
        ByteBuffer state = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        state.putLong(1)
                .putInt(1)
                .putInt(1)
                .putLong(0); // its seed, the words that are left, whether it has one, the next word
        for (int word = 1; word <= WORDS; word++) {
            state.putLong(word);
        }
        Files.write(file, state.array());
    }
}
