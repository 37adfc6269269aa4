// Runs a CUDA C kernel on the CPU, to be included before its source: the threads of a block are coroutines that take
// turns at barriers only, so that a barrier that is missing shows. lanes.cu is replaced by what stands here.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes)

struct Place {
    int x, y;
};
struct int4 {
    int x, y, z, w;
};

alignas(1024) float memory[1 << 17];
static Place threadIdx, blockIdx, blockDim, gridDim;

static int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static float __int_as_float(int bits) { float value; memcpy(&value, &bits, 4); return value; }
static int __float_as_int(float value) { int bits; memcpy(&bits, &value, 4); return bits; }

static unsigned int address_of(const void *pointer) { return (const char *)pointer - (const char *)memory; }
template <typename T> static T &at(unsigned int address) { return *(T *)((char *)memory + address); }
static float load(unsigned int address) { return at<float>(address); }
static unsigned int load_number(unsigned int address) { return at<unsigned int>(address); }
static void store(unsigned int address, float value) { at<float>(address) = value; }
static int4 load_four(unsigned int address) { return at<int4>(address); }
static float turned(float value, unsigned int sign)
{
    return __int_as_float(__float_as_int(value) ^ (sign & 0x80000000u));
}

enum State { READY, AT_WARP, AT_BLOCK, DONE };
struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    State state;
};
static std::vector<Thread> threads;
static ucontext_t scheduler;
static int current;

static void wait(State state)
{
    threads[current].state = state;
    swapcontext(&threads[current].context, &scheduler);
}
static void __syncwarp() { wait(AT_WARP); }
static void __syncthreads() { wait(AT_BLOCK); }

static bool release(int first, int last, State state)
{
    for (int k = first; k < last; ++k)
        if (threads[k].state != state) return false;
    for (int k = first; k < last; ++k) threads[k].state = READY;
    return true;
}

static void (*body)();
static void run_thread() { body(), wait(DONE); }

// Whether the block ended, with every thread at the same barriers.
static bool run_block(int n_threads)
{
    threads.resize(n_threads);
    for (int k = 0; k < n_threads; ++k) {
        Thread &each = threads[k];
        if (!each.stack) each.stack.reset(new char[1 << 16]);
        getcontext(&each.context);
        each.context.uc_stack.ss_sp = each.stack.get(), each.context.uc_stack.ss_size = 1 << 16;
        each.context.uc_link = nullptr, each.state = READY;
        makecontext(&each.context, run_thread, 0);
    }
    for (;;) {
        for (current = 0; current < n_threads; ++current) {
            if (threads[current].state != READY) continue;
            threadIdx = {current % 32, current / 32};
            swapcontext(&scheduler, &threads[current].context);
        }
        bool released = release(0, n_threads, AT_BLOCK);
        for (int warp = 0; warp < n_threads; warp += 32) released |= release(warp, warp + 32, AT_WARP);
        if (!released) return release(0, n_threads, DONE);
    }
}
