// What the kernels for small graphs share: rows of 128 floats in shared memory, by 32-bit addresses. Lane l of a warp owns
// the coordinates l, l + 32, l + 64 and l + 96 of a row: reading one, shifted or not, touches 32 different banks.
//
// The random map of a label is 16 bits per lane: the signs of its coordinates in the upper four, below them the byte
// offset within a row of the first of them before the shift.

__device__ __forceinline__ unsigned int address_of(const void *pointer)
{
    return (unsigned int)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ float load(unsigned int address)
{
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address));
    return value;
}

__device__ __forceinline__ unsigned int load_number(unsigned int address)
{
    unsigned int value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address));
    return value;
}

__device__ __forceinline__ void store(unsigned int address, float value)
{
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}

__device__ __forceinline__ int4 load_four(unsigned int address)
{
    int4 value;
    asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w) : "r"(address));
    return value;
}

__device__ __forceinline__ float turned(float value, unsigned int sign)
{
    return __int_as_float(__float_as_int(value) ^ (sign & 0x80000000u));
}
