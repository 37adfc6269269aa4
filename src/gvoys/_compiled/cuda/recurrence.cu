// One step of a three-term recurrence with a matrix of a graph, on eight vectors at once: y becomes
// matrix M x + itself x + before y, and kept times that is added to the total. Vectors are (n_nodes, 8): the eight
// numbers of a neighbour are 32 bytes, as much as memory sends at a time. (M x)_u = left_u sum_e w_e x_e + diagonal_u x_u.
//
// A node has eight threads, one for each vector, which add its entries in their order. A hub, a node of more than `most`
// entries, has a block instead: 32 groups of eight threads take every 32nd entry, and the first adds what they found.

#define LANES 8

__device__ __forceinline__ float entry(
    long long e, int lane, const unsigned int *__restrict__ indices, const float *__restrict__ weights,
    const float *__restrict__ x)
{
    const float value = x[(long long)indices[e] * LANES + lane];
#if WEIGHTED
    return weights[e] * value;
#else
    return value;
#endif
}

__device__ __forceinline__ void finish(
    long long u, int lane, float sum, const float *__restrict__ left, const float *__restrict__ diagonal, float matrix,
    float itself, float before, float kept, const float *__restrict__ x, float *__restrict__ y, float *__restrict__ total)
{
    const long long place = u * LANES + lane;
#if SHIFTED
    itself += matrix * diagonal[u];
#endif
    const float made = matrix * left[u] * sum + itself * x[place] + before * y[place];
    y[place] = made;
    total[place] += kept * made;
}

extern "C" __global__ void step_nodes(
    long long n_nodes, long long most, const long long *__restrict__ indptr, const unsigned int *__restrict__ indices,
    const float *__restrict__ weights, const float *__restrict__ left, const float *__restrict__ diagonal, float matrix,
    float itself, float before, float kept, const float *__restrict__ x, float *__restrict__ y,
    float *__restrict__ total)
{
    const int thread = threadIdx.y * 32 + threadIdx.x, lane = thread % LANES;
    const long long u = (long long)blockIdx.x * (blockDim.y * 32 / LANES) + thread / LANES;
    if (u >= n_nodes) return;
    const long long begin = indptr[u], end = indptr[u + 1];
    if (end - begin > most) return;
    float sum = 0.0f;
    for (long long e = begin; e < end; ++e) sum += entry(e, lane, indices, weights, x);
    finish(u, lane, sum, left, diagonal, matrix, itself, before, kept, x, y, total);
}

extern "C" __global__ void step_hubs(
    const long long *__restrict__ hubs, const long long *__restrict__ indptr, const unsigned int *__restrict__ indices,
    const float *__restrict__ weights, const float *__restrict__ left, const float *__restrict__ diagonal, float matrix,
    float itself, float before, float kept, const float *__restrict__ x, float *__restrict__ y,
    float *__restrict__ total)
{
    extern __shared__ __align__(1024) float memory[];
    const int thread = threadIdx.y * 32 + threadIdx.x, lane = thread % LANES;
    const int n_groups = blockDim.y * 32 / LANES;
    const long long u = hubs[blockIdx.x];
    float sum = 0.0f;
    for (long long e = indptr[u] + thread / LANES; e < indptr[u + 1]; e += n_groups)
        sum += entry(e, lane, indices, weights, x);
    memory[thread] = sum;
    __syncthreads();
    if (thread >= LANES) return;
    for (int group = 1; group < n_groups; ++group) sum += memory[group * LANES + lane];
    finish(u, lane, sum, left, diagonal, matrix, itself, before, kept, x, y, total);
}
