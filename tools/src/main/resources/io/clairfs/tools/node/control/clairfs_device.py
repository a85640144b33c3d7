"""A feeder's batches in GPU memory. Needs NVIDIA's driver and ctypes alone; torch, JAX and CuPy take the arrays as they are."""

import collections
import ctypes
import sys
import uuid

__all__ = ["CudaError", "DeviceArray"]


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
        "cuCtxPushCurrent_v2": [ctypes.c_void_p],
        "cuCtxPopCurrent_v2": [ctypes.POINTER(ctypes.c_void_p)],
        "cuIpcOpenMemHandle_v2": [ctypes.POINTER(ctypes.c_uint64), _Handle, ctypes.c_uint],
        "cuIpcCloseMemHandle": [ctypes.c_uint64],
        "cuMemcpyDtoH_v2": [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t],
        "cuEventCreate": [ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint],
        "cuEventRecord": [ctypes.c_void_p, ctypes.c_void_p],
        "cuEventQuery": [ctypes.c_void_p],
        "cuEventSynchronize": [ctypes.c_void_p],
        "cuEventDestroy_v2": [ctypes.c_void_p],
    }

    def __init__(self):
        try:
            library = ctypes.CDLL("libcuda.so.1")
        except OSError as e:
            raise CudaError("no NVIDIA driver here: %s" % e) from None
        for name, types in self._TYPES.items():
            call = getattr(library, name)
            call.argtypes, call.restype = types, ctypes.c_int
        self._library = library
        self("cuInit", 0)

    def __call__(self, name, *arguments):
        result = self.result(name, *arguments)
        if result:
            raise CudaError("%s failed with CUDA's error %d" % (name, result))

    def result(self, name, *arguments):
        return getattr(self._library, name)(*arguments)


class Device:
    """A GPU as this process numbers it. Within `with` its primary context is current: the one that torch, JAX and CuPy use as well."""

    def __init__(self, name):
        """name: "cuda", "cuda:N", N, or what torch calls a device."""
        self._context = None
        self.ordinal = self._number(name)
        self.driver = _Driver()
        count = ctypes.c_int()
        self.driver("cuDeviceGetCount", ctypes.byref(count))
        if not 0 <= self.ordinal < count.value:
            raise CudaError("there is no device cuda:%d: this process sees %d" % (self.ordinal, count.value))
        self._device, raw = ctypes.c_int(), ctypes.create_string_buffer(16)
        self.driver("cuDeviceGet", ctypes.byref(self._device), self.ordinal)
        self.driver("cuDeviceGetUuid", raw, self._device)
        self.identity = "GPU-%s" % uuid.UUID(bytes=raw.raw)
        context = ctypes.c_void_p()
        self.driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self._context = context  # given back with this object: whatever is open on the device has it

    @staticmethod
    def _number(name):
        text = str(name)
        if text in ("cuda", "cuda:None"):
            torch = sys.modules.get("torch")
            return torch.cuda.current_device() if torch and torch.cuda.is_initialized() else 0
        try:
            return int(text[5:] if text.startswith("cuda:") else text)
        except ValueError:
            raise CudaError("device '%s' is none: cuda, or cuda:N" % text) from None

    def __enter__(self):
        self.driver("cuCtxPushCurrent_v2", self._context)
        return self

    def __exit__(self, *_):
        self.driver("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def current_stream(self):
        """The stream on which a script works now: torch's, else the default one."""
        torch = sys.modules.get("torch")
        return torch.cuda.current_stream(self.ordinal).cuda_stream if torch and torch.cuda.is_initialized() else 0

    def __del__(self):
        if self._context and not sys.is_finalizing():
            self.driver.result("cuDevicePrimaryCtxRelease_v2", self._device)


class _Memory:
    """Another process's allocation on a device, opened by its handle until the last array of it is gone."""

    _LAZY_PEER_ACCESS = 1

    def __init__(self, device, handle):
        self.device, self.address = device, None
        base = ctypes.c_uint64()
        with device:
            result = device.driver.result("cuIpcOpenMemHandle_v2", ctypes.byref(base), _Handle.from_buffer_copy(handle), self._LAZY_PEER_ACCESS)
        if result:
            raise CudaError(
                "the feeder's memory on %s cannot be opened (CUDA's error %d): feeder and trainer must be two processes that see each other's"
                " process numbers (containers: share the PID namespace)" % (device.identity, result)
            )
        self.address = base.value

    def __del__(self):
        if self.address is not None and not sys.is_finalizing():
            with self.device:
                self.device.driver.result("cuIpcCloseMemHandle", self.address)


class DeviceArray:
    """An array in GPU memory, for torch.as_tensor(array, device="cuda:N"), torch.from_dlpack, jax.dlpack.from_dlpack, cupy.asarray: nothing is copied."""

    def __init__(self, memory, address, shape, dtype):
        self._memory = memory  # stays open as long as anybody has the array
        self._address = address
        self.shape, self.dtype = tuple(shape), dtype

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return "DeviceArray(%s, %s, cuda:%d)" % (self.shape, self.dtype, self._memory.device.ordinal)

    @property
    def nbytes(self):
        count = self.dtype.itemsize
        for extent in self.shape:
            count *= extent
        return count

    @property
    def __cuda_array_interface__(self):
        return {"data": (self._address, False), "shape": self.shape, "typestr": self.dtype.str, "strides": None, "version": 3}

    def __dlpack_device__(self):
        return (_KIND_CUDA, self._memory.device.ordinal)

    def __dlpack__(self, **_):
        """Complete when it was handed over: there is no stream to wait for."""
        return _capsule(self)

    def numpy(self):
        """A copy on the host."""
        import numpy

        copy = numpy.empty(self.shape, self.dtype)
        with self._memory.device as device:
            device.driver("cuMemcpyDtoH_v2", copy.ctypes.data, self._address, self.nbytes)
        return copy

    def first(self, count):
        return self if count == self.shape[0] else DeviceArray(self._memory, self._address, (count,) + self.shape[1:], self.dtype)


class DeviceSlots:
    """The slots of a feeder's ring on a device. A slot is given back when what the script's stream had been given by then is done."""

    _DISABLE_TIMING = 2
    _NOT_READY = 600

    def __init__(self, device, handle, slot_bytes, slots, parts):
        """parts: of a slot, as (offset, shape, dtype)."""
        self._device, self._driver = device, device.driver
        memory = _Memory(device, handle)
        self._arrays = [
            tuple(DeviceArray(memory, memory.address + slot * slot_bytes + offset, shape, dtype) for offset, shape, dtype in parts)
            for slot in range(slots)
        ]
        self._events = []
        self._in_use = collections.deque()

    def arrays(self, slot, count):
        return tuple(array.first(count) for array in self._arrays[slot])

    def release(self, given_back):
        """Calls given_back once the kernels that the current stream has are done; see poll."""
        with self._device:
            if not self._events:
                self._events.append(self._new_event())
            self._driver("cuEventRecord", self._events[-1], self._device.current_stream())
        self._in_use.append((self._events.pop(), given_back))

    def _new_event(self):
        event = ctypes.c_void_p()
        self._driver("cuEventCreate", ctypes.byref(event), self._DISABLE_TIMING)
        return event

    def poll(self):
        """Gives back what is not in use any more. Returns whether something still is."""
        while self._in_use:
            event, given_back = self._in_use[0]
            result = self._driver.result("cuEventQuery", event)
            if result == self._NOT_READY:
                return True
            if result:
                raise CudaError("cuEventQuery failed with CUDA's error %d" % result)
            self._in_use.popleft()
            self._events.append(event)
            given_back()
        return False

    def close(self):
        """Waits for what the current stream has been given, since the feeder frees the slots next. Never fails: the device may have."""
        try:
            self.release(lambda: None)
        except RuntimeError:
            pass
        try:
            with self._device:
                for event, _ in self._in_use:
                    self._driver.result("cuEventSynchronize", event)
                for event in [event for event, _ in self._in_use] + self._events:
                    self._driver.result("cuEventDestroy_v2", event)
        except RuntimeError:
            pass  # what is left ends with this process
        self._in_use.clear()
        self._events, self._arrays = [], []


# DLPack: its structures, and who owns them. https://dmlc.github.io/dlpack/latest/c_api.html

_KIND_CUDA = 2
_CODES = {"i": 0, "u": 1, "f": 2}


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    pass


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _DELETER)]
_NAME = b"dltensor"
_exported = {}


@_DELETER
def _delete(address):
    _exported.pop(address, None)


@_DELETER
def _delete_unused(capsule):
    """A capsule that nobody has taken: whoever takes one gives it another name."""
    capsule = ctypes.c_void_p(capsule)
    if ctypes.pythonapi.PyCapsule_IsValid(capsule, _NAME):
        _delete(ctypes.pythonapi.PyCapsule_GetPointer(capsule, _NAME))


ctypes.pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _DELETER]
ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p


def _capsule(array):
    managed = _Managed()
    shape = (ctypes.c_int64 * len(array.shape))(*array.shape)
    tensor = managed.tensor
    tensor.data, tensor.device_kind, tensor.device_number = array._address, _KIND_CUDA, array._memory.device.ordinal
    tensor.dimensions, tensor.shape = len(array.shape), shape
    tensor.code, tensor.bits, tensor.lanes = _CODES[array.dtype.kind], array.dtype.itemsize * 8, 1
    managed.deleter = _delete
    address = ctypes.addressof(managed)
    _exported[address] = (managed, shape, array)
    return ctypes.pythonapi.PyCapsule_New(address, _NAME, _delete_unused)
