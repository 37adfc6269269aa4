// Profiles of small undirected graphs by non-backtracking walks: one block per (graph, group of 128 components). A step
// takes what a node sends along each entry, the sum of all that came to it but along that entry, to the entry's head.
//
// An entry has one row of shared memory. What is sent along u -> x is written where x will look for it: a node reads the
// rows of its own entries and writes to them, or those of the entries back, in turns. No other node touches them during
// that step, so that one state per entry is enough; parallel entries share the row of the first.
//
// Sums that lack an entry are those of the entries before it and of those after it, in the order of the CPU:
// subtracting it from the sum of all would leave nothing but rounding where it is much the largest.

struct Four {
    float a, b, c, d;
};

__device__ __forceinline__ Four operator+(Four x, Four y)
{
    return {x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d};
}

__device__ __forceinline__ Four get(unsigned int address)
{
    return {load(address), load(address + 128), load(address + 256), load(address + 384)};
}

__device__ __forceinline__ void put(unsigned int address, Four x)
{
    store(address, x.a), store(address + 128, x.b), store(address + 256, x.c), store(address + 384, x.d);
}

__device__ __forceinline__ Four turned(Four x, unsigned int turn)
{
    return {turned(x.a, turn), turned(x.b, turn << 17), turned(x.c, turn << 18), turned(x.d, turn << 19)};
}

// What comes along an entry: a row times its weight, shifted and signed.
__device__ __forceinline__ Four arriving(unsigned int row, unsigned int turn, float weight)
{
    const unsigned int o0 = turn & 511, o1 = (turn + 128) & 511;
    const Four x = {load(row + o0), load(row + o1), load(row + (o0 ^ 256)), load(row + (o1 ^ 256))};
    return turned({x.a * weight, x.b * weight, x.c * weight, x.d * weight}, turn);
}

// The first of the ascending numbers heads[begin:end] that is not below a node.
__device__ __forceinline__ int find(const int *heads, int begin, int end, int node)
{
    while (begin < end) {
        const int middle = (begin + end) / 2;
        if (heads[middle] < node) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS, LEAST_BLOCKS) sketch_nonbacktracking(
    const int *__restrict__ graphs, int n_steps, int n_codes,
    const int *__restrict__ node_offsets, const int *__restrict__ indptr, const int *__restrict__ indices,
    const float *__restrict__ weights, const int *__restrict__ codes, const int *__restrict__ entry_codes,
    const short *__restrict__ turns,  // (group, step, code, lane)
    const float *__restrict__ start, const float *__restrict__ stop, const float *__restrict__ factors, float norm,
    float *__restrict__ out, long long graph_stride, long long step_stride)
{
    extern __shared__ __align__(1024) float memory[];
    const int lane = threadIdx.x, warp = threadIdx.y, n_warps = blockDim.y;
    const int thread = warp * 32 + lane, n_threads = n_warps * 32;
    const int graph = graphs[blockIdx.x], group = blockIdx.y;
    const int first = node_offsets[graph], n = node_offsets[graph + 1] - first;
    const int base = indptr[first], n_entries = indptr[first + n] - base;
    float *shares = memory + 128 * n_entries;  // behind the states
    int4 *nodes = (int4 *)(shares + 256 * n_warps);  // first entry; degree, negative for the long way; label; start as bits
    int *rows = (int *)(nodes + n);  // addresses of the entries' own rows, then of those of the entries back
    int *heads = rows + 2 * n_entries, *marks = heads + n_entries;  // where entries lead, and their maps
    const unsigned int origin = address_of(memory), records = address_of(nodes), listed = address_of(rows);
    const unsigned int marked = address_of(marks), kept = marked + 4 * n_entries + 512 * warp + 4 * lane;
    for (int e = thread; e < n_entries; e += n_threads) {
        heads[e] = indices[base + e];
#if EDGES
        marks[e] = entry_codes[base + e] * 32;
#endif
    }
    __syncthreads();
    for (int u = thread; u < n; u += n_threads) {
        const int begin = indptr[first + u] - base, end = indptr[first + u + 1] - base;
        bool plain = end - begin <= 4;
        for (int e = begin; e < end; ++e) {
            const int x = heads[e];
            const bool parallel = e > begin && heads[e - 1] == x;
            rows[e] = parallel ? rows[e - 1] : origin + 512 * e;
            rows[n_entries + e] = origin + 512 * find(heads, indptr[first + x] - base, indptr[first + x + 1] - base, u);
            plain = plain && !parallel;
        }
        nodes[u] = make_int4(begin, plain ? end - begin : begin - end, codes[first + u] * 32,
                             __float_as_int(start[first + u]));
    }
    const short *table = turns + (size_t)group * n_steps * n_codes * 32 + lane;
    float *target = out + graph * graph_stride + group * 128;
    const float factor = factors[graph];
    const Four zero = {0.0f, 0.0f, 0.0f, 0.0f};
    __syncthreads();
    for (int t = 0; t < n_steps; ++t, table += n_codes * 32) {
        Four sum = zero;
        const unsigned int links = listed + (t & 1) * 4 * n_entries;
#pragma unroll 1
        for (int u = warp; u < n; u += n_warps) {
            const int4 node = load_four(records + 16 * u);
            const unsigned int turn = (int)table[node.z], link = links + 4 * node.x;
            const auto row = [=](int k) { return load_number(link + 4 * k); };
            const auto send = [=](int k, Four x) { put(row(k) + 4 * lane, x); };
            const auto come = [=](int k) {
                const float weight = WEIGHTED ? factor * weights[base + node.x + k] : factor;
                return arriving(row(k), EDGES ? (int)table[load_number(marked + 4 * (node.x + k))] : turn, weight);
            };
            Four total = zero;
            if (t == 0) {  // a first step may go anywhere
                const float value = stop[first + u];
                total = turned({value, value, value, value}, turn);
                for (int k = 0; k < abs(node.y); ++k) send(k, total);
            } else if (node.y == 1) {
                total = come(0);
                __syncwarp();  // rows are shifted as they are read: all lanes before any writes
                send(0, zero);
            } else if (node.y == 2) {
                const Four x = come(0), y = come(1);
                __syncwarp();
                send(0, y), send(1, x);
                total = x + y;
            } else if (node.y == 3) {
                const Four x = come(0), y = come(1), z = come(2);
                __syncwarp();
                send(0, z + y), send(1, x + z), send(2, x + y);
                total = x + y + z;
            } else if (node.y == 4) {
                const Four x = come(0), y = come(1), z = come(2), w = come(3);
                __syncwarp();
                const Four left = x + y, right = w + z;
                send(0, right + y), send(1, x + right), send(2, left + w), send(3, left + z);
                total = left + z + w;
            } else if (node.y < 0) {
                const int degree = -node.y;
                const unsigned int stride = 512 * n_warps;
                for (int k = 0; k < degree; ++k) put(kept + stride * k, come(k));
                __syncwarp();
                for (int k = 0; k < degree;) {  // what arrived before each, parallel entries together
                    const unsigned int here = row(k);
                    send(k, total);
                    do total = total + get(kept + stride * k++);
                    while (k < degree && row(k) == here);
                }
                Four after = zero;
                for (int k = degree; k > 0;) {
                    const unsigned int here = row(k - 1);
                    send(k - 1, get(here + 4 * lane) + after);
                    do after = after + get(kept + stride * --k);
                    while (k > 0 && row(k - 1) == here);
                }
            }
            const float weight = __int_as_float(node.w);
            sum.a += weight * total.a, sum.b += weight * total.b, sum.c += weight * total.c, sum.d += weight * total.d;
        }
        // two sets of shares, so that adding them up needs no barrier behind it
        float *set = shares + (t & 1) * n_warps * 128;
        put(address_of(set) + 512 * warp + 4 * lane, sum);
        __syncthreads();
        for (int j = thread; j < 128; j += n_threads) {
            float whole = 0.0f;
            for (int w = 0; w < n_warps; ++w) whole += set[w * 128 + j];
            target[t * step_stride + j] = whole * norm;
        }
    }
}
