package io.clairfs.gpufeeder.device;

import java.io.IOException;

/** A call of CUDA's driver that failed, or a device that is not there. The message names the call and the driver's own text. */
public final class CudaException extends IOException {
    private static final long serialVersionUID = 1;

    CudaException(String message) {
        super(message);
    }
}
