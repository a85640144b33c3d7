"""A feeder's batches in GPU memory, opened by the trainer. It needs ctypes alone; torch, JAX and CuPy take the arrays as they are."""
import ctypes
import uuid


class CudaError(RuntimeError):
    """A call of CUDA's driver that failed, or a device that this process does not see."""


class _Handle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_ubyte * 64)]


class _Driver:
    """The calls that are made, with their types; each result is checked."""

    _TYPES = {
        "cuInit": [ctypes.c_uint],
        "cuDeviceGetCount": [ctypes.POINTER(ctypes.c_int)],
        "cuDeviceGet": [ctypes.POINTER(ctypes.c_int), ctypes.c_int],
        "cuDeviceGetUuid": [ctypes.c_char_p, ctypes.c_int],
        "cuDevicePrimaryCtxRetain": [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int],
        "cuDevicePrimaryCtxRelease_v2": [ctypes.c_int],
        "cuCtxSetCurrent": [ctypes.c_void_p],
        "cuIpcOpenMemHandle_v2": [ctypes.POINTER(ctypes.c_uint64), _Handle, ctypes.c_uint],
        "cuIpcCloseMemHandle": [ctypes.c_uint64],
        "cuMemcpyDtoH_v2": [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t],
        "cuEventCreate": [ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint],
        "cuEventRecord": [ctypes.c_void_p, ctypes.c_void_p],
        "cuEventQuery": [ctypes.c_void_p],
        "cuEventDestroy_v2": [ctypes.c_void_p],
    }
    NOT_READY = 600

    def __init__(self):
        try:
            library = ctypes.CDLL("libcuda.so.1")
        except OSError as e:
            raise CudaError(f"no NVIDIA driver here: {e}") from None
        self._calls = {}
        for name, types in self._TYPES.items():
            call = getattr(library, name)
            call.argtypes, call.restype = types, ctypes.c_int
            self._calls[name] = call

    def __call__(self, name, *arguments):
        result = self.result(name, *arguments)
        if result:
            raise CudaError(f"{name} failed with CUDA's error {result}")

    def result(self, name, *arguments):
        return self._calls[name](*arguments)


class DeviceArray:
    """One batch in GPU memory, for whatever reads __cuda_array_interface__: torch.as_tensor(array, device=...), cupy.asarray(array)."""

    def __init__(self, memory, address, shape, typestr):
        self._memory = memory  # stays open as long as anybody has the array
        self.__cuda_array_interface__ = dict(
            data=(address, False), shape=tuple(shape), typestr=typestr, strides=None, version=3
        )


class Fence:
    """Whether the work that a stream had been given at some moment is done."""

    _DISABLE_TIMING = 2

    def __init__(self, driver):
        self._driver = driver
        self._event = ctypes.c_void_p()
        driver("cuEventCreate", ctypes.byref(self._event), self._DISABLE_TIMING)

    def record(self, stream=0):
        """Remembers this moment of a stream: its number, as torch.cuda.current_stream().cuda_stream is."""
        self._driver("cuEventRecord", self._event, ctypes.c_void_p(stream))

    def is_done(self):
        result = self._driver.result("cuEventQuery", self._event)
        if result not in (0, _Driver.NOT_READY):
            raise CudaError(f"cuEventQuery failed with CUDA's error {result}")
        return result == 0

    def close(self):
        if self._event:
            self._driver.result("cuEventDestroy_v2", self._event)
            self._event = None


class DeviceMemory:
    """The slots of a feeder's ring in GPU memory, opened by their handle.

    The device is found by its identity, since processes may number devices otherwise. The context is the device's primary one, which torch, JAX and
    CuPy use as well. Both processes must see each other's process numbers: containers share their PID namespace.
    """

    _LAZY_PEER_ACCESS = 1

    def __init__(self, identity, handle, slots, slot_bytes):
        self.slots, self.slot_bytes = slots, slot_bytes
        self._driver = _Driver()
        self._driver("cuInit", 0)
        self.ordinal, self._device = self._find(identity)
        context = ctypes.c_void_p()
        self._driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self._base = ctypes.c_uint64()
        try:
            self._driver("cuCtxSetCurrent", context)
            raw = _Handle.from_buffer_copy(handle)
            result = self._driver.result(
                "cuIpcOpenMemHandle_v2", ctypes.byref(self._base), raw, self._LAZY_PEER_ACCESS
            )
            if result:
                raise CudaError(
                    f"the feeder's memory on {identity} cannot be opened (CUDA's error {result}): feeder and trainer must be two"
                    " processes that see each other's process numbers (containers: share the PID namespace)"
                )
        except CudaError:
            self._driver.result("cuDevicePrimaryCtxRelease_v2", self._device)
            raise
        self._open = True

    def _find(self, identity):
        count = ctypes.c_int()
        self._driver("cuDeviceGetCount", ctypes.byref(count))
        seen = []
        for ordinal in range(count.value):
            device, raw = ctypes.c_int(), ctypes.create_string_buffer(16)
            self._driver("cuDeviceGet", ctypes.byref(device), ordinal)
            self._driver("cuDeviceGetUuid", raw, device)
            seen.append(f"GPU-{uuid.UUID(bytes=raw.raw)}")
            if seen[-1].lower() == identity.lower():
                return ordinal, device
        raise CudaError(f"this process does not see the feeder's device {identity}, only {seen}: set CUDA_VISIBLE_DEVICES alike")

    def array(self, slot, shape, typestr):
        """The batch in a slot; valid until the slot is given back."""
        if not 0 <= slot < self.slots:
            raise IndexError(f"slot {slot} of {self.slots}")
        return DeviceArray(self, self._base.value + slot * self.slot_bytes, shape, typestr)

    def fence(self):
        return Fence(self._driver)

    def read(self, slot, size):
        """The first bytes of a slot, copied back: for tests."""
        copy = (ctypes.c_ubyte * size)()
        self._driver("cuMemcpyDtoH_v2", copy, self._base.value + slot * self.slot_bytes, size)
        return bytes(copy)

    def close(self):
        if self._open:
            self._open = False
            self._driver.result("cuIpcCloseMemHandle", self._base)
            self._driver.result("cuDevicePrimaryCtxRelease_v2", self._device)
