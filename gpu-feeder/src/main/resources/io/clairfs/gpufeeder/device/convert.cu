/*
 * What the feeder's --on-device does to a batch: bytes to floats, (value / 255 - mean) / std, planes of channels, mirrored for half of the samples.
 *
 * convert.ptx beside this file is what the driver loads. It was made with clang 14 alone, without CUDA's own headers and libraries:
 *
 *     clang-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_50 -nocudainc -nocudalib -O3 -S -o convert.ptx convert.cu
 *
 * and runs on every GPU since Maxwell (compute capability 5.0): the driver compiles it for the GPU that is there.
 */
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

typedef unsigned long long u64;

static __device__ int is_mirrored(u64 seed, unsigned epoch, long long index) {
    /* Feeder.key: SplitMix64's finalizer. */
    u64 key = (seed ^ ((u64)epoch << 32 | (u64)index)) * 0x9e3779b97f4a7c15ull;
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9ull;
    key = (key ^ key >> 27) * 0x94d049bb133111ebull;
    key ^= key >> 31;
    /* The first of the Draws of that key, below one half. */
    u64 draw = key + 0x9e3779b97f4a7c15ull;
    draw = (draw ^ draw >> 30) * 0xbf58476d1ce4e5b9ull;
    draw = (draw ^ draw >> 27) * 0x94d049bb133111ebull;
    return (draw ^ draw >> 31) >> 63 == 0;
}

/* One thread for each pixel; blockIdx.y is the sample. pixel and plane: from one pixel, and from one channel, to the next, bytes. */
template <typename T>
static __device__ void convert(const unsigned char *from, T *to, const long long *indices, u64 seed, unsigned epoch, int flip, int width, int height,
                               int channels, int pixel, int plane, float s0, float s1, float s2, float s3, float b0, float b1, float b2, float b3) {
    int pixels = width * height;
    int at = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
    if (at >= pixels) return;
    long long sample = __nvvm_read_ptx_sreg_ctaid_y();
    int source = at;
    if (flip && is_mirrored(seed, epoch, indices[sample])) {
        int row = at / width;
        source = row * width + (width - 1 - (at - row * width));
    }
    from += sample * pixels * channels + (long long)source * pixel;
    to += sample * pixels * channels + at;
    *to = (T)(*from * s0 + b0);
    if (channels > 1) to[pixels] = (T)(from[plane] * s1 + b1);
    if (channels > 2) to[2LL * pixels] = (T)(from[2LL * plane] * s2 + b2);
    if (channels > 3) to[3LL * pixels] = (T)(from[3LL * plane] * s3 + b3);
}

#define KERNEL(name, type)                                                                                                                        \
    extern "C" __global__ void name(const unsigned char *from, type *to, const long long *indices, u64 seed, unsigned epoch, int flip, int width, \
                                    int height, int channels, int pixel, int plane, float s0, float s1, float s2, float s3, float b0, float b1,   \
                                    float b2, float b3) {                                                                                         \
        convert(from, to, indices, seed, epoch, flip, width, height, channels, pixel, plane, s0, s1, s2, s3, b0, b1, b2, b3);                     \
    }

KERNEL(convert_float16, __fp16)
KERNEL(convert_float32, float)
