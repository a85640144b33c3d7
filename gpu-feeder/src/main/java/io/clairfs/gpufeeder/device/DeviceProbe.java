package io.clairfs.gpufeeder.device;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What is there of GPUs: a list, or the reason why none can be used. Asking costs nothing where there is no driver, and never fails. */
public sealed interface DeviceProbe {
    /** At least one. */
    record Found(List<Device> devices) implements DeviceProbe {
        public Found {
            devices = List.copyOf(devices);
        }

        /**
         * The device of a name.
         *
         * @param name "cuda", "cuda:N" or "GPU-" with the identity that nvidia-smi prints
         * @throws CudaException where there is none of that name
         */
        public Device device(String name) throws CudaException {
            String wanted = name.equals("cuda") ? "cuda:0" : name.toLowerCase(Locale.ROOT);
            for (Device device : devices) {
                if (wanted.equals("cuda:" + device.ordinal()) || wanted.equalsIgnoreCase(device.identity())) {
                    return device;
                }
            }
            throw new CudaException("no device '" + name + "' here: there are " + devices);
        }
    }

    record Missing(String reason) implements DeviceProbe {}

    @SuppressWarnings("restricted")
    static DeviceProbe run() {
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup.libraryLookup(CudaDriver.LIBRARY, arena);
        } catch (IllegalArgumentException _) {
            return new Missing("no NVIDIA driver here (" + CudaDriver.LIBRARY + " cannot be loaded)");
        }
        try {
            CudaDriver driver = CudaDriver.load();
            List<Device> devices = new ArrayList<>();
            for (int ordinal = 0; ordinal < driver.deviceCount(); ordinal++) {
                devices.add(driver.device(ordinal));
            }
            return devices.isEmpty() ? new Missing("the NVIDIA driver knows no device") : new Found(devices);
        } catch (CudaException e) {
            return new Missing(String.valueOf(e.getMessage()));
        }
    }

    /** The device of a name, or one line that says why it cannot be had. */
    static Device find(String name) throws CudaException {
        return switch (run()) {
            case Found found -> found.device(name);
            case Missing missing ->
                throw new CudaException("no device '" + name + "': " + missing.reason()
                        + "; without device= (--device) the batches stay on the host, and the trainer copies them");
        };
    }
}
