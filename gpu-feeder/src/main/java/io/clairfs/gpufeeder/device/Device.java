package io.clairfs.gpufeeder.device;

import java.util.UUID;

/**
 * A GPU that this process may use.
 *
 * @param ordinal its number in this process; another process may number otherwise (CUDA_VISIBLE_DEVICES)
 * @param uuid what all processes of the machine call it
 */
public record Device(int ordinal, UUID uuid, String name) {
    /** As nvidia-smi writes it, and CUDA_VISIBLE_DEVICES reads it. */
    public String identity() {
        return "GPU-" + uuid;
    }

    @Override
    public String toString() {
        return "cuda:" + ordinal + " (" + name + ", " + identity() + ")";
    }
}
