// Profiles of small graphs: one block per (graph, group of 128 components), states in shared memory. The kernel is bound by
// the instructions it issues, hence: a node's two states, before and after a step, lie side by side, so that one bit tells
// them apart; a node holds the addresses of its first four neighbours, of which two are always added, those that are not
// there being a row of zeros. Neighbours are added up in the order of the CPU.
//
// With EDGES an entry has a map of its own, that of its label and then of its node's label.

extern "C" __global__ void __launch_bounds__(MOST_THREADS, LEAST_BLOCKS) sketch_small(
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
    float *shares = memory + 256 * (n + 1);  // behind the states and a row of zeros
    int4 *nodes = (int4 *)(shares + 256 * n_warps);  // four neighbours; label, degree, start as bits, where the list goes on
    int *entries = (int *)(nodes + 2 * n);
    const unsigned int origin = address_of(memory), records = address_of(nodes), listed = address_of(entries);
    const unsigned int nothing = origin + 1024 * n;
    for (int j = thread; j < 256; j += n_threads)
        memory[256 * n + j] = 0.0f;
    for (int u = thread; u < n; u += n_threads) {
        const int begin = indptr[first + u], degree = indptr[first + u + 1] - begin;
        const int *row = indices + begin;
        nodes[2 * u] = make_int4(degree > 0 ? origin + 1024 * row[0] : nothing, degree > 1 ? origin + 1024 * row[1] : nothing,
                                 degree > 2 ? origin + 1024 * row[2] : nothing, degree > 3 ? origin + 1024 * row[3] : nothing);
        nodes[2 * u + 1] = make_int4(codes[first + u] * 32, degree, __float_as_int(start[first + u]),
                                     listed + 4 * (begin - base));
    }
    for (int e = thread; e < n_entries; e += n_threads) {
        entries[e] = origin + indices[base + e] * 1024;
#if EDGES
        entries[n_entries + e] = entry_codes[base + e] * 32;
#endif
    }
    const short *table = turns + (size_t)group * n_steps * n_codes * 32 + lane;
    float *target = out + graph * graph_stride + group * 128;
    const float factor = factors[graph];
    unsigned int before = 512;  // the half of a row that holds the states before a step
    __syncthreads();
    for (int t = 0; t < n_steps; ++t, table += n_codes * 32) {
        float p0 = 0.0f, p1 = 0.0f, p2 = 0.0f, p3 = 0.0f;
        unsigned int row = origin + (before ^ 512) + 1024 * warp + 4 * lane, record = records + 32 * warp;
#pragma unroll 1
        for (int u = warp; u < n; u += n_warps, row += 1024 * n_warps, record += 32 * n_warps) {
            const int4 node = load_four(record + 16);
            unsigned int turn = (int)table[node.x];  // its first sign is that of the number itself
            float s0, s1, s2, s3;
            if (t == 0) {
                s0 = s1 = s2 = s3 = stop[first + u];
            } else {
                // coordinates half a row apart differ in one bit
                unsigned int o0 = (turn & 511) | before, o1 = ((turn + 128) & 511) | before;
                unsigned int o2 = o0 ^ 256, o3 = o1 ^ 256;
#if WEIGHTED || EDGES
                s0 = s1 = s2 = s3 = 0.0f;
                for (int e = 0; e < node.y; ++e) {
                    const unsigned int a = load_number(node.w + 4 * e);
                    float weight = 1.0f;
#if WEIGHTED
                    weight = weights[base + ((node.w - (int)listed) >> 2) + e];
#endif
#if EDGES
                    turn = (int)table[load_number(node.w + 4 * (n_entries + e))];
                    o0 = (turn & 511) | before, o1 = ((turn + 128) & 511) | before, o2 = o0 ^ 256, o3 = o1 ^ 256;
                    s0 += turned(weight * load(o0 + a), turn), s1 += turned(weight * load(o1 + a), turn << 17);
                    s2 += turned(weight * load(o2 + a), turn << 18), s3 += turned(weight * load(o3 + a), turn << 19);
#else
                    s0 += weight * load(o0 + a), s1 += weight * load(o1 + a);
                    s2 += weight * load(o2 + a), s3 += weight * load(o3 + a);
#endif
                }
#if EDGES
                turn = 0;  // the entries' maps end with the node's
#endif
#else
                const int4 a = load_four(record);
                s0 = load(o0 + a.x) + load(o0 + a.y), s1 = load(o1 + a.x) + load(o1 + a.y);
                s2 = load(o2 + a.x) + load(o2 + a.y), s3 = load(o3 + a.x) + load(o3 + a.y);
                if (node.y > 2) {
                    s0 += load(o0 + a.z), s1 += load(o1 + a.z), s2 += load(o2 + a.z), s3 += load(o3 + a.z);
                    if (node.y > 3) {
                        s0 += load(o0 + a.w), s1 += load(o1 + a.w), s2 += load(o2 + a.w), s3 += load(o3 + a.w);
#pragma unroll 1
                        for (int e = 4; e < node.y; ++e) {
                            const unsigned int b = load_number(node.w + 4 * e);
                            s0 += load(o0 + b), s1 += load(o1 + b), s2 += load(o2 + b), s3 += load(o3 + b);
                        }
                    }
                }
#endif
                s0 *= factor, s1 *= factor, s2 *= factor, s3 *= factor;
            }
            s0 = turned(s0, turn), s1 = turned(s1, turn << 17);
            s2 = turned(s2, turn << 18), s3 = turned(s3, turn << 19);
            store(row, s0), store(row + 128, s1), store(row + 256, s2), store(row + 384, s3);
            const float weight = __int_as_float(node.z);
            p0 += weight * s0, p1 += weight * s1, p2 += weight * s2, p3 += weight * s3;
        }
        // two sets of shares, so that adding them up needs no barrier behind it
        float *set = shares + (t & 1) * n_warps * 128;
        float *mine = set + warp * 128 + lane;
        mine[0] = p0, mine[32] = p1, mine[64] = p2, mine[96] = p3;
        __syncthreads();
        for (int j = thread; j < 128; j += n_threads) {
            float total = 0.0f;
            for (int w = 0; w < n_warps; ++w) total += set[w * 128 + j];
            target[t * step_stride + j] = total * norm;
        }
        before ^= 512;
    }
}
