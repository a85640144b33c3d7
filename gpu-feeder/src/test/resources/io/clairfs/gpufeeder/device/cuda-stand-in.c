/*
 * The calls of CUDA's driver that the feeder and its trainer make, for machines without a GPU: one device whose memory are files in the directory of
 * CUDA_STAND_IN, so that a handle can be opened by another process. It is strict where a GPU would go wrong without a word: copies must come from
 * pinned memory and stay within an allocation, a handle names the begin of an allocation and cannot be opened where it was made, and what is still
 * allocated, pinned, opened or retained at the end of the process is written to the file "left" of that directory. While that directory has a file
 * "busy", no kernel ends; while it has a file "broken", a kernel of whoever has opened another process's memory has failed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_CONTEXT = 201, NOT_READY = 600, ILLEGAL_ADDRESS = 700, ALREADY_PINNED = 712, NOT_PINNED = 713 };
enum { MOST = 256 };

struct range {
    uintptr_t begin;
    size_t bytes;
    char file[48];
    int opened;
};
struct handle {
    char reserved[64];
};

static struct range memory[MOST], pinned[MOST];
static int retained, streams, events, modules;
static __thread int current;

static const char *directory(void) {
    const char *name = getenv("CUDA_STAND_IN");
    return name ? name : "/nonexistent";
}

/* CUDA_STAND_IN_FAILS names a call that fails; behind a colon, how many of them succeed before. */
static int fails(const char *call) {
    static int succeeded;
    const char *wanted = getenv("CUDA_STAND_IN_FAILS");
    size_t length = strlen(call);
    if (!wanted || strncmp(wanted, call, length) != 0) return 0;
    return wanted[length] == '\0' || (wanted[length] == ':' && succeeded++ >= atoi(wanted + length + 1));
}

static struct range *within(struct range *ranges, uintptr_t address, size_t bytes) {
    for (int i = 0; i < MOST; i++)
        if (ranges[i].bytes && address >= ranges[i].begin && address + bytes <= ranges[i].begin + ranges[i].bytes) return &ranges[i];
    return NULL;
}

static struct range *unused(struct range *ranges) {
    for (int i = 0; i < MOST; i++)
        if (!ranges[i].bytes) return &ranges[i];
    abort();
}

static void *map(const char *file, int flags, size_t *bytes) {
    char path[512];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", directory(), file);
    int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
    if (fd < 0) return NULL;
    if (flags ? ftruncate(fd, (off_t)*bytes) : fstat(fd, &status)) return NULL;
    if (!flags) *bytes = (size_t)status.st_size;
    void *at = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

__attribute__((destructor)) static void tell_what_is_left(void) {
    int allocations = 0, pins = 0;
    for (int i = 0; i < MOST; i++) {
        allocations += memory[i].bytes != 0;
        pins += pinned[i].bytes != 0;
    }
    if (!allocations && !pins && !retained && !streams && !events && !modules) return;
    char path[512];
    snprintf(path, sizeof path, "%s/left", directory());
    FILE *file = fopen(path, "a");
    if (!file) return;
    fprintf(file, "%d: %d allocations, %d pinned, %d contexts, %d streams, %d events, %d modules\n", getpid(), allocations, pins, retained, streams, events, modules);
    fclose(file);
}

int cuInit(unsigned flags) { return flags || fails("cuInit") ? NO_DEVICE : OK; }
int cuDeviceGetCount(int *count) { return *count = 1, OK; }
int cuDeviceGet(int *device, int ordinal) { return ordinal ? INVALID_VALUE : (*device = 0, OK); }
int cuDeviceGetName(char *name, int bytes, int device) { return (void)device, snprintf(name, (size_t)bytes, "stand-in"), OK; }
int cuDeviceGetUuid(unsigned char *uuid, int device) {
    for (int i = 0; i < 16; i++) uuid[i] = (unsigned char)(i * 17);
    return (void)device, OK;
}
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) { return cuDeviceGetUuid(uuid, device); }
int cuDevicePrimaryCtxRetain(void **context, int device) { return (void)device, retained++, *context = &retained, OK; }
int cuDevicePrimaryCtxRelease(int device) { return (void)device, retained--, OK; }
int cuDevicePrimaryCtxRelease_v2(int device) { return cuDevicePrimaryCtxRelease(device); }
int cuCtxSetCurrent(void *context) { return current = context != NULL, OK; }
int cuCtxPushCurrent_v2(void *context) { return context == &retained && retained ? (current++, OK) : INVALID_CONTEXT; }
int cuCtxPopCurrent_v2(void **context) { return current ? (current--, *context = &retained, OK) : INVALID_CONTEXT; }

int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
    static int number;
    if (!current) return INVALID_CONTEXT;
    if (fails("cuMemAlloc")) return OUT_OF_MEMORY;
    struct range *range = unused(memory);
    snprintf(range->file, sizeof range->file, "%d-%d", getpid(), number++);
    void *at = map(range->file, O_CREAT | O_EXCL, &bytes);
    if (!at) return OUT_OF_MEMORY;
    range->begin = (uintptr_t)at;
    range->bytes = bytes;
    return *address = range->begin, OK;
}

int cuMemFree_v2(unsigned long long address) {
    struct range *range = within(memory, address, 1);
    if (!range || range->begin != address) return INVALID_VALUE;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory(), range->file);
    unlink(path);
    munmap((void *)range->begin, range->bytes);
    return range->bytes = 0, OK;
}

int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
    (void)flags;
    if (!current) return INVALID_CONTEXT;
    if (fails("cuMemHostRegister")) return OUT_OF_MEMORY;
    if ((uintptr_t)address % 4096 || !bytes) return INVALID_VALUE;
    if (within(pinned, (uintptr_t)address, 1)) return ALREADY_PINNED;
    struct range *range = unused(pinned);
    range->begin = (uintptr_t)address;
    range->bytes = bytes;
    return OK;
}

int cuMemHostUnregister(void *address) {
    struct range *range = within(pinned, (uintptr_t)address, 1);
    return range && range->begin == (uintptr_t)address ? (range->bytes = 0, OK) : NOT_PINNED;
}

int cuStreamCreate(void **stream, unsigned flags) { return (void)flags, streams++, *stream = &streams, OK; }
int cuStreamDestroy_v2(void *stream) { return (void)stream, streams--, OK; }
int cuStreamSynchronize(void *stream) { return (void)stream, OK; }

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    if (!current) return INVALID_CONTEXT;
    if (fails("cuMemcpyHtoDAsync")) return ILLEGAL_ADDRESS;
    if (!within(memory, to, bytes) || !within(pinned, (uintptr_t)from, bytes)) return INVALID_VALUE;
    return memcpy((void *)(uintptr_t)to, from, bytes), OK;
}
int cuMemcpyHtoDAsync(unsigned long long to, const void *from, size_t bytes, void *stream) { return cuMemcpyHtoDAsync_v2(to, from, bytes, stream); }

int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes, void *stream) {
    (void)stream;
    if (!current || !within(memory, to, bytes) || !within(memory, from, bytes)) return INVALID_VALUE;
    return memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes), OK;
}
int cuMemcpyDtoDAsync(unsigned long long to, unsigned long long from, size_t bytes, void *stream) { return cuMemcpyDtoDAsync_v2(to, from, bytes, stream); }

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
    return within(memory, from, bytes) ? (memcpy(to, (void *)(uintptr_t)from, bytes), OK) : INVALID_VALUE;
}

int cuIpcGetMemHandle(struct handle *handle, unsigned long long address) {
    struct range *range = within(memory, address, 1);
    if (!range || range->begin != address) return INVALID_VALUE;
    memset(handle, 0, sizeof *handle);
    return strcpy(handle->reserved, range->file), OK;
}

int cuIpcOpenMemHandle_v2(unsigned long long *address, struct handle handle, unsigned flags) {
    if (flags != 1 || !current || atoi(handle.reserved) == getpid()) return INVALID_VALUE;
    struct range *range = unused(memory);
    size_t bytes = 0;
    void *at = map(handle.reserved, 0, &bytes);
    if (!at) return INVALID_VALUE;
    range->begin = (uintptr_t)at;
    range->bytes = bytes;
    range->opened = 1;
    return *address = range->begin, OK;
}

int cuIpcCloseMemHandle(unsigned long long address) {
    struct range *range = within(memory, address, 1);
    if (!range || !range->opened) return INVALID_VALUE;
    munmap((void *)range->begin, range->bytes);
    return range->bytes = 0, OK;
}

static int has(const char *file) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory(), file);
    return access(path, F_OK) == 0;
}

static int is_broken(void) {
    for (int i = 0; i < MOST; i++)
        if (memory[i].bytes && memory[i].opened) return has("broken");
    return 0;
}

/* Copies are done when their call returns. Kernels there are none: a stream is busy for as long as the directory says so. */
int cuEventCreate(void **event, unsigned flags) { return current ? ((void)flags, events++, *event = malloc(1), OK) : INVALID_CONTEXT; }
int cuEventRecord(void *event, void *stream) { return (void)stream, !event || !current ? INVALID_VALUE : is_broken() ? ILLEGAL_ADDRESS : OK; }
int cuEventQuery(void *event) { return !event ? INVALID_VALUE : is_broken() ? ILLEGAL_ADDRESS : has("busy") ? NOT_READY : OK; }
int cuEventSynchronize(void *event) { return event ? OK : INVALID_VALUE; }
int cuEventDestroy_v2(void *event) { return event ? (events--, free(event), OK) : INVALID_VALUE; }

/* The kernels of convert.cu, once more, as the feeder's documentation describes them: another program for the same result. */
int cuModuleLoadData(void **module, const void *program) {
    if (!current || !strstr(program, ".visible .entry convert_float16") || !strstr(program, ".visible .entry convert_float32")) return INVALID_VALUE;
    return modules++, *module = &modules, OK;
}
int cuModuleUnload(void *module) { return module == &modules ? (modules--, OK) : INVALID_VALUE; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
    if (module != &modules) return INVALID_VALUE;
    *function = (void *)(strcmp(name, "convert_float16") == 0 ? "2" : "4");
    return OK;
}

static uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Whether decoding with flip=random would mirror a sample. */
static int is_mirrored(uint64_t seed, uint64_t epoch, uint64_t index) {
    const uint64_t golden = 0x9e3779b97f4a7c15u;
    return (double)(mix(mix((seed ^ (epoch << 32 | index)) * golden) + golden) >> 11) * 0x1p-53 < 0.5;
}

int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **given,
                   void **extra) {
    (void)stream;
    const uint8_t *from = *(const uint8_t **)given[0];
    char *to = *(char **)given[1];
    const int64_t *indices = *(const int64_t **)given[2];
    uint64_t seed = *(uint64_t *)given[3];
    int epoch = *(int *)given[4], flip = *(int *)given[5], width = *(int *)given[6], height = *(int *)given[7], channels = *(int *)given[8];
    int pixel = *(int *)given[9], plane = *(int *)given[10];
    size_t image = (size_t)width * height * channels, bytes = *(char *)function - '0';
    if (!current || extra || shared || z != 1 || by != 1 || bz != 1 || bx > 1024 || y > 65535) return INVALID_VALUE;
    if ((size_t)x * bx < (size_t)width * height || (size_t)(x - 1) * bx >= (size_t)width * height) return INVALID_VALUE;
    if (!within(memory, (uintptr_t)from, y * image) || !within(memory, (uintptr_t)to, y * image * bytes)) return INVALID_VALUE;
    if (!within(memory, (uintptr_t)indices, y * sizeof *indices)) return INVALID_VALUE;
    for (unsigned n = 0; n < y; n++)
        for (int c = 0; c < channels; c++)
            for (int row = 0; row < height; row++)
                for (int column = 0; column < width; column++) {
                    int source = flip && is_mirrored(seed, (uint64_t)epoch, (uint64_t)indices[n]) ? width - 1 - column : column;
                    float value = from[n * image + ((size_t)row * width + source) * pixel + (size_t)c * plane];
                    value = value * *(float *)given[11 + c] + *(float *)given[15 + c];
                    size_t at = ((size_t)n * channels + c) * height * width + (size_t)row * width + column;
                    if (bytes == 4)
                        ((float *)to)[at] = value;
                    else
                        ((_Float16 *)to)[at] = (_Float16)value;
                }
    return OK;
}
