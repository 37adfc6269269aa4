/* A graph as an SVG picture: molecules as chemists draw them, other graphs with a colour for each label. */
const SVG = "http://www.w3.org/2000/svg";
const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7a00", "#8e56c9", "#7d8590", "#b8860b",
  "#2e8b57", "#d0409b"];
const FEW = 60; // nodes up to which labels are written
const RADIUS = 0.3, BARE = 0.18; // of a node with a label and of one without, beside an edge of length 1
const APART = 0.42; // of the distance between neighbours, which a circle may take
const NARROW = 0.58; // width of a letter beside its height

function element(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/* Black or white, whichever is legible on a colour. */
function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#000" : "#fff";
}

/* A label as far as it fits into a node's circle, and the size of its letters. */
function fitted(text, radius) {
  const kept = text.length > 4 ? `${text.slice(0, 3)}…` : text;
  return [kept, Math.min(1.15, 1.7 / (NARROW * Math.max(kept.length, 1))) * radius];
}

/* The usual distance from a point to the one next to it, by some of the points. */
function spacing(points) {
  const step = Math.ceil(points.length / FEW), nearest = [];
  for (let i = 0; i < points.length; i += step) {
    let least = Infinity;
    points.forEach((q, j) => (least = j === i ? least : Math.min(least, Math.hypot(points[i][0] - q[0], points[i][1] - q[1]))));
    nearest.push(least);
  }
  return nearest.sort((a, b) => a - b)[Math.floor(nearest.length / 3)];
}

class Drawings {
  constructor(data) { Object.assign(this, data); }

  /* With shares, from -1 to 1 for each node, nodes have their colours. */
  picture(g, label, share = null) {
    const [first, last] = [this.nodeOffsets[g], this.nodeOffsets[g + 1]];
    const svg = element("svg", { class: "graph", role: "img", "aria-label": label });
    if (first === last) return svg;
    const points = Array.from({ length: last - first }, (_, i) => [this.xy[2 * (first + i)], -this.xy[2 * (first + i) + 1]]);
    const codes = Array.from({ length: last - first }, (_, i) => this.nodeCodes[first + i]);
    const edges = [];
    for (let e = this.edgeOffsets[g]; e < this.edgeOffsets[g + 1]; e++)
      edges.push([this.ends[2 * e], this.ends[2 * e + 1], this.orders[e] / 2]);
    const unit = this.#frame(svg, points, edges), size = { unit, radius: this.#radius(points, codes, unit) };
    const around = points.map(() => []);
    for (const [a, b] of edges) if (a !== b) { around[a].push(b); around[b].push(a); }
    if (share && this.molecules) points.forEach((point, i) => this.#halo(svg, point, share(first + i), unit));
    for (const edge of edges) this.#edge(svg, points, edge, around, size);
    points.forEach((point, i) => this.#node(svg, point, codes[i], around[i].length, points.length, size, share && share(first + i)));
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
    const least = Math.max(5.5 * unit - 2 * margin, 0); // a graph of few nodes is not blown up
    const [wide, high] = [Math.max(right - left, least), Math.max(bottom - top, least / 2)];
    const [x, y] = [(left + right - wide) / 2 - margin, (top + bottom - high) / 2 - margin];
    svg.setAttribute("viewBox", `${x} ${y} ${wide + 2 * margin} ${high + 2 * margin}`);
    return unit;
  }

  /* Circles of crowded graphs are smaller, so that their edges are seen. */
  #radius(points, codes, unit) {
    return Math.min((codes.some((code) => this.texts[code]) ? RADIUS : BARE) * unit, Math.max(APART * spacing(points), 0.06 * unit));
  }

  #edge(svg, points, [a, b, order], around, { unit, radius }) {
    const look = { class: this.molecules ? "bond" : "link", "stroke-width": 0.06 * unit, "stroke-linecap": "round" };
    const line = (shift, dash) => {
      const [p, q] = [points[a], points[b]], size = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1;
      const [dx, dy] = [(q[1] - p[1]) / size * shift, -(q[0] - p[0]) / size * shift];
      svg.append(element("line", { x1: p[0] + dx, y1: p[1] + dy, x2: q[0] + dx, y2: q[1] + dy, ...look,
        ...(dash ? { "stroke-dasharray": 0.16 * unit } : {}) }));
    };
    if (a === b) {
      svg.append(element("circle", { cx: points[a][0], cy: points[a][1] - radius, r: radius, ...look }));
    } else if (order === 2 || order === 1.5) {
      const side = this.#inner(points, a, b, around) * 0.17 * unit;
      line(0);
      line(side, order === 1.5);
    } else {
      line(0);
      if (order === 3) [-0.15, 0.15].forEach((shift) => line(shift * unit));
    }
    if (this.directed && a !== b) this.#arrow(svg, points[a], points[b], unit, radius);
  }

  #arrow(svg, p, q, unit, radius) {
    const size = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1, [x, y] = [(q[0] - p[0]) / size, (q[1] - p[1]) / size];
    const at = (along, aside) => `${q[0] - along * x - aside * y},${q[1] - along * y + aside * x}`;
    const [far, wide] = [radius + 0.25 * unit, 0.12 * unit];
    svg.append(element("polygon", { class: "head", points: `${at(radius, 0)} ${at(far, wide)} ${at(far, -wide)}` }));
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

  #halo(svg, [x, y], share, unit) {
    svg.append(element("circle", { class: "share", "data-share": share, cx: x, cy: y, r: 0.42 * unit, style: `fill: ${shareColour(share)}` }));
  }

  #node(svg, [x, y], code, degree, n_nodes, { unit, radius }, share) {
    const text = this.texts[code];
    if (this.molecules) {
      if (text === "C" && degree) return;
      const colour = share === null ? `var(--atom-${text.match(/^[A-Z][a-z]?/)?.[0]}, var(--ink))` : "var(--ink)";
      const behind = share === null ? "" : `; stroke: ${shareColour(share)}`; // hides the ends of bonds
      this.#text(svg, x, y, text, 0.62 * unit, `fill: ${colour}${behind}`, { class: "atom", "stroke-width": 0.22 * unit });
      return;
    }
    const colour = PALETTE[code % PALETTE.length];
    const circle = element("circle", { class: "node", cx: x, cy: y, r: radius, "stroke-width": 0.13 * radius,
      style: `fill: ${share === null ? colour : shareColour(share)}` }, element("title", {}));
    if (share !== null) circle.setAttribute("data-share", share);
    circle.firstChild.textContent = text;
    svg.append(circle);
    if (n_nodes > FEW || !text) return;
    const [kept, size] = fitted(text, radius);
    this.#text(svg, x, y, kept, size, `fill: ${share === null ? inkOn(colour) : "var(--ink)"}`, { "pointer-events": "none" });
  }

  #text(svg, x, y, text, size, style, more) {
    const made = element("text", { x, y, "font-size": size, style, ...more });
    for (const part of text.match(/\d+|\D+/g) ?? []) {
      const span = element("tspan", this.molecules && /\d/.test(part) ? { "baseline-shift": "sub", "font-size": 0.7 * size } : {});
      span.textContent = part;
      made.append(span);
    }
    svg.append(made);
  }
}

/* Orange where a node lowers the prediction, blue where it raises it, the stronger the more. */
const shareColour = (share) => `color-mix(in srgb, var(--${share < 0 ? "away" : "towards"}) ${(100 * Math.abs(share)).toFixed(1)}%, var(--neither))`;
