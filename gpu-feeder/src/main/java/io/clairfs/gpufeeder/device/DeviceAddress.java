package io.clairfs.gpufeeder.device;

import jcuda.driver.CUdeviceptr;

/** An address in a device's memory whose number can be read: the calls that jcuda lacks take it. */
final class DeviceAddress extends CUdeviceptr {
    long value() {
        return getNativePointer();
    }
}
