/* Kernels from stored profiles: K(G, H) = sum_i mu_i K_i(G, H), for any mu, with a 95 % interval.

   A length is { values: (graphs, width), groups, widening, rest }. Several groups are the independent parts of a sketch;
   their spread is its error. One group is exact but for the rest, which is there as random projections. `diagonal` is
   (graphs, lengths), with a mean of one for every length; `mu` here are the shares that lengths have in the mean. */
const SAMPLE = 4000; // graphs that are enough to find the axes of a map

class Walks {
  constructor({ n, lengths, diagonal }) {
    Object.assign(this, { n, lengths, diagonal });
    this.rests = lengths.map((length, i) => this.#restSquared(length, i));
    this.groups = Math.max(...lengths.map((length) => length.groups));
    this.widening = Math.max(...lengths.map((length) => length.widening));
    this.axes = null;
    const step = Math.max(n / SAMPLE, 1); // axes are found from graphs evenly spread over the collection
    this.sample = Array.from({ length: Math.min(n, SAMPLE) }, (_, k) => Math.floor(k * step));
  }

  /* |rest|² = K_i(G, G) - |values|². */
  #restSquared({ values, width, rest }, i) {
    const out = new Float64Array(this.n);
    for (let g = 0; rest && g < this.n; g++) {
      let norm = 0;
      for (let j = g * width; j < (g + 1) * width; j++) norm += values[j] ** 2;
      out[g] = Math.max(this.diagonal[g * this.lengths.length + i] - norm, 0);
    }
    return out;
  }

  /* The weights to use from now on, and whether to divide by sqrt(K(G, G) K(H, H)). */
  weigh(mu, cosine) {
    this.mu = mu;
    this.scale = new Float64Array(this.n).fill(1);
    for (let g = 0; cosine && g < this.n; g++) {
      const own = mu.reduce((sum, weight, i) => sum + weight * this.diagonal[g * mu.length + i], 0);
      this.scale[g] = own > 0 ? 1 / Math.sqrt(own) : 0;
    }
  }

  /* Kernel values of one graph with all, and half the width of their 95 % intervals. */
  compare(g) {
    const { n, groups, scale } = this, values = new Float64Array(n), variances = new Float64Array(n);
    const parts = new Float64Array(n * groups); // of sketches, group by group
    this.lengths.forEach((length, i) => {
      const mu = this.mu[i], part = length.width / length.groups;
      for (let h = 0; mu > 0 && h < n; h++) {
        for (let k = 0; k < length.groups; k++) {
          const sum = mu * this.#product(length, g, h, k * part, (k + 1) * part);
          values[h] += sum;
          if (length.groups > 1) parts[h * groups + k] += sum;
        }
        if (!length.rest) continue;
        const rest = this.#product(length.rest, g, h, 0, length.rest.width);
        values[h] += mu * rest;
        variances[h] += mu ** 2 * (this.rests[i][g] * this.rests[i][h] + rest ** 2) / length.rest.width;
      }
    });
    const bars = variances.map((variance, h) =>
      1.96 * Math.sqrt(variance + this.#variance(parts.subarray(h * groups, (h + 1) * groups))));
    const size = (x, h) => x * scale[g] * scale[h];
    return { values: values.map(size), bars: bars.map(size) };
  }

  #product({ values, width }, g, h, begin, end) {
    let sum = 0;
    for (let j = begin; j < end; j++) sum += values[g * width + j] * values[h * width + j];
    return sum;
  }

  /* The variance of a sum of groups, from their spread, widened for their small number. */
  #variance(parts) {
    const n = parts.length;
    if (n < 2) return 0;
    const total = parts.reduce((a, b) => a + b, 0);
    const squares = parts.reduce((sum, part) => sum + (part * n - total) ** 2, 0);
    return this.widening ** 2 * squares / n / (n - 1);
  }

  /* The graphs with the largest values, without the graph itself. */
  nearest(g, count) {
    const { values, bars } = this.compare(g);
    const order = Uint32Array.from(values.keys()).filter((h) => h !== g).sort((a, b) => values[b] - values[a] || a - b);
    return Array.from(order.subarray(0, count), (h) => ({ graph: h, value: values[h], bar: bars[h] }));
  }

  /* For each group of graphs the one most similar to all of it on average, or null; codes below 0 are in none. */
  typical(codes, count) {
    const sums = Array.from({ length: count }, () => new Float64Array(this.#width()));
    this.#each((h, first, values, k, width, root) => {
      const x = this.scale[h] * root, sum = codes[h] < 0 ? null : sums[codes[h]];
      for (let j = 0; sum && j < width; j++) sum[first + j] += x * values[k + j];
    });
    const scores = new Float64Array(this.n);
    this.#each((h, first, values, k, width, root) => {
      const x = this.scale[h] * root, sum = codes[h] < 0 ? null : sums[codes[h]];
      for (let j = 0; sum && j < width; j++) scores[h] += x * values[k + j] * sum[first + j];
    });
    const best = Array(count).fill(null);
    for (let h = 0; h < this.n; h++)
      if (codes[h] >= 0 && (best[codes[h]] === null || scores[h] > scores[best[codes[h]]])) best[codes[h]] = h;
    return best;
  }

  #width() { return this.lengths.reduce((sum, length) => sum + length.width, 0); }

  /* Every graph's values of every length that has a weight, with the place of the length among all. */
  #each(work, rows = null) {
    let first = 0;
    this.lengths.forEach(({ values, width }, i) => {
      const root = Math.sqrt(this.mu[i]), n = rows ? rows.length : this.n;
      for (let r = 0; root > 0 && r < n; r++) {
        const h = rows ? rows[r] : r;
        work(h, first, values, h * width, width, root, r);
      }
      first += width;
    });
  }

  /* The two leading principal components: places, and their shares of the variance. Axes go on from the last ones, so
     that points move smoothly while mu changes. */
  project() {
    const { sample } = this, n = sample.length, mean = this.#pull([new Float64Array(n).fill(1 / n)])[0];
    const variance = this.#meanSquare() - mean.reduce((sum, x) => sum + x * x, 0);
    let axes = this.#restarted(mean.length), before = -1, places;
    const spread = (all) => all.map((xs) => xs.reduce((sum, x) => sum + x * x / n, 0));
    for (let turn = 0; turn < 60; turn++) {
      places = this.#places(axes, mean, sample);
      const both = spread(places).reduce((a, b) => a + b);
      if (Math.abs(both - before) <= 1e-5 * both || both === 0) break;
      before = both;
      axes = this.#orthonormal(this.#pull(places, mean));
    }
    this.axes = this.#turned(axes, places);
    const shares = spread(this.#turned(places, places)).map((s) => (variance > 0 ? s / variance : 0));
    const [x, y] = this.#places(this.axes, mean, null);
    return { x, y, shares };
  }

  /* Turn a pair within its plane, such that the two places are uncorrelated and the first has the larger spread. */
  #turned([first, second], [x, y]) {
    let [xx, xy, yy] = [0, 0, 0];
    for (let g = 0; g < x.length; g++) {
      xx += x[g] ** 2;
      xy += x[g] * y[g];
      yy += y[g] ** 2;
    }
    const angle = Math.atan2(2 * xy, xx - yy) / 2, [c, s] = [Math.cos(angle), Math.sin(angle)];
    return [first.map((a, j) => c * a + s * second[j]), first.map((a, j) => c * second[j] - s * a)];
  }

  /* The last axes with a little of everything: they may lie in lengths that have no weight any more. */
  #restarted(width) {
    let state = 1;
    const next = () => ((state = (state * 48271) % 2147483647) / 2147483647 - 0.5) / Math.sqrt(width);
    const noise = [0, 1].map(() => Float64Array.from({ length: width }, next));
    return this.#orthonormal(this.axes ? noise.map((axis, k) => axis.map((x, j) => 0.1 * x + this.axes[k][j])) : noise);
  }

  #meanSquare() {
    const count = this.mu.length;
    return this.sample.reduce((sum, g) => sum + this.mu.reduce((own, weight, i) =>
      own + weight * this.diagonal[g * count + i], 0) * this.scale[g] ** 2 / this.sample.length, 0);
  }

  /* Places of some graphs, or of all, on each axis, from the mean. */
  #places(axes, mean, rows) {
    return axes.map((axis) => {
      const out = new Float64Array(rows ? rows.length : this.n), centre = axis.reduce((sum, x, j) => sum + x * mean[j], 0);
      this.#each((h, first, values, k, width, root, r) => {
        let sum = 0;
        for (let j = 0; j < width; j++) sum += values[k + j] * axis[first + j];
        out[r] += sum * root * this.scale[h];
      }, rows);
      return out.map((x) => x - centre);
    });
  }

  /* Sums of the sample's features, each graph weighted by its place; about the mean where there is one. */
  #pull(places, mean = null) {
    return places.map((xs) => {
      const out = new Float64Array(this.#width());
      this.#each((h, first, values, k, width, root, r) => {
        const x = xs[r] * this.scale[h] * root;
        for (let j = 0; j < width; j++) out[first + j] += x * values[k + j];
      }, this.sample);
      const weight = mean === null ? 0 : xs.reduce((sum, x) => sum + x, 0);
      return weight === 0 ? out : out.map((x, j) => x - weight * mean[j]);
    });
  }

  #orthonormal([first, second]) {
    const dot = (a, b) => a.reduce((sum, x, j) => sum + x * b[j], 0);
    const unit = (a) => { const size = Math.sqrt(dot(a, a)) || 1; return a.map((x) => x / size); };
    const one = unit(first), along = dot(one, second);
    return [one, unit(second.map((x, j) => x - along * one[j]))];
  }
}
