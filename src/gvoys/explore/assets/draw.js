/* A graph as an SVG picture: molecules as chemists draw them, other graphs with a colour for each label. */
const SVG = "http://www.w3.org/2000/svg";
const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a6c00", "#7f3fbf", "#555555", "#b8860b",
  "#2e8b57", "#c71585"];
const ELEMENTS = { N: "#2146c7", O: "#c51b1b", F: "#1f8a3b", Cl: "#1f8a3b", Br: "#8a3a12", I: "#6b1fa3", S: "#9a7b00",
  P: "#c2600a", B: "#b5651d" };
const FEW = 60; // nodes up to which labels are written

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

class Drawings {
  constructor(data) { Object.assign(this, data); }

  picture(g, label) {
    const [first, last] = [this.nodeOffsets[g], this.nodeOffsets[g + 1]];
    const svg = element("svg", { class: "graph", role: "img", "aria-label": label });
    if (first === last) return svg;
    const points = Array.from({ length: last - first }, (_, i) => [this.xy[2 * (first + i)], -this.xy[2 * (first + i) + 1]]);
    const codes = Array.from({ length: last - first }, (_, i) => this.nodeCodes[first + i]);
    const edges = [];
    for (let e = this.edgeOffsets[g]; e < this.edgeOffsets[g + 1]; e++)
      edges.push([this.ends[2 * e], this.ends[2 * e + 1], this.orders[e] / 2]);
    const unit = this.#frame(svg, points, edges);
    const around = points.map(() => []);
    for (const [a, b] of edges) if (a !== b) { around[a].push(b); around[b].push(a); }
    for (const edge of edges) this.#edge(svg, points, edge, around, unit);
    points.forEach((point, i) => this.#node(svg, point, codes[i], around[i].length, points.length, unit));
    return svg;
  }

  /* Fit the view to the points; the unit is a usual length of an edge. */
  #frame(svg, points, edges) {
    const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const lengths = edges.map(([a, b]) => Math.hypot(points[a][0] - points[b][0], points[a][1] - points[b][1])).sort((a, b) => a - b);
    const size = Math.max(right - left, bottom - top);
    const unit = lengths[Math.floor(lengths.length / 2)] || size || 1;
    const margin = Math.max(0.6 * unit, 0.03 * size);
    const least = Math.max(8 * unit - 2 * margin, 0); // a graph of few nodes is not blown up
    const [wide, high] = [Math.max(right - left, least), Math.max(bottom - top, least / 2)];
    const [x, y] = [(left + right - wide) / 2 - margin, (top + bottom - high) / 2 - margin];
    svg.setAttribute("viewBox", `${x} ${y} ${wide + 2 * margin} ${high + 2 * margin}`);
    return unit;
  }

  #edge(svg, points, [a, b, order], around, unit) {
    const line = (shift, dash) => {
      const [p, q] = [points[a], points[b]], size = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1;
      const [dx, dy] = [(q[1] - p[1]) / size * shift, -(q[0] - p[0]) / size * shift];
      svg.append(element("line", { x1: p[0] + dx, y1: p[1] + dy, x2: q[0] + dx, y2: q[1] + dy, "stroke-linecap": "round",
        stroke: this.molecules ? "#333" : "#9aa3b5", "stroke-width": 0.06 * unit, ...(dash ? { "stroke-dasharray": 0.16 * unit } : {}) }));
    };
    if (a === b) {
      svg.append(element("circle", { cx: points[a][0], cy: points[a][1] - 0.3 * unit, r: 0.3 * unit, fill: "none", stroke: "#9aa3b5", "stroke-width": 0.06 * unit }));
    } else if (order === 2 || order === 1.5) {
      const side = this.#inner(points, a, b, around) * 0.17 * unit;
      line(0);
      line(side, order === 1.5);
    } else {
      line(0);
      if (order === 3) [-0.15, 0.15].forEach((shift) => line(shift * unit));
    }
    if (this.directed && a !== b) this.#arrow(svg, points[a], points[b], unit);
  }

  #arrow(svg, p, q, unit) {
    const size = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1, [x, y] = [(q[0] - p[0]) / size, (q[1] - p[1]) / size];
    const at = (along, aside) => `${q[0] - along * unit * x - aside * unit * y},${q[1] - along * unit * y + aside * unit * x}`;
    svg.append(element("polygon", { points: `${at(0.25, 0)} ${at(0.5, 0.12)} ${at(0.5, -0.12)}`, fill: "#6b7488" }));
  }

  /* On which side of a bond the second line goes: into its ring, or else where the neighbours are. */
  #inner(points, a, b, around) {
    const near = this.#ring(a, b, around) ?? [...around[a], ...around[b]];
    const [p, q] = [points[a], points[b]], mean = (k) => near.reduce((sum, i) => sum + points[i][k], 0) / near.length;
    return (q[1] - p[1]) * (mean(0) - p[0]) - (q[0] - p[0]) * (mean(1) - p[1]) >= 0 ? 1 : -1;
  }

  /* The nodes of the smallest ring through a bond, by breadth first search, or null. */
  #ring(a, b, around) {
    const from = new Map([[a, null]]);
    for (let layer = [a], steps = 0; layer.length && steps < 8; steps++) {
      const next = [];
      for (const u of layer)
        for (const v of around[u]) {
          if (from.has(v) || (u === a && v === b)) continue;
          from.set(v, u);
          if (v === b) {
            const ring = [];
            for (let w = b; w !== null; w = from.get(w)) ring.push(w);
            return ring;
          }
          next.push(v);
        }
      layer = next;
    }
    return null;
  }

  #node(svg, [x, y], code, degree, n_nodes, unit) {
    const text = this.texts[code];
    if (this.molecules) {
      if (text === "C" && degree) return;
      this.#text(svg, x, y, text, 0.62 * unit, ELEMENTS[text.match(/^[A-Z][a-z]?/)?.[0]] ?? "#333");
      return;
    }
    svg.append(element("circle", { cx: x, cy: y, r: 0.24 * unit, fill: PALETTE[code % PALETTE.length], stroke: "#fff", "stroke-width": 0.04 * unit }));
    if (n_nodes <= FEW && text.length <= 6) this.#text(svg, x, y, text, 0.3 * unit, "#000");
  }

  #text(svg, x, y, text, size, colour) {
    const made = element("text", { x, y, "font-size": size, fill: colour, "stroke-width": 0.35 * size });
    for (const part of text.match(/\d+|\D+/g) ?? []) {
      const span = element("tspan", this.molecules && /\d/.test(part) ? { "baseline-shift": "sub", "font-size": 0.7 * size } : {});
      span.textContent = part;
      made.append(span);
    }
    svg.append(made);
  }
}
