/* A graph as an SVG picture: molecules as RDKit drew them, other graphs with a colour for each label. */
const SVG = "http://www.w3.org/2000/svg";
const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7a00", "#8e56c9", "#7d8590", "#b8860b",
  "#2e8b57", "#d0409b"];
const FEW = 60; // nodes up to which labels are written
const RADIUS = 0.3, BARE = 0.18; // of a node with a label and of one without, beside an edge of length 1
const APART = 0.42; // of the distance between neighbours, which a circle may take
const NARROW = 0.58; // width of a letter beside its height
const HALO = 24, LEAST = 360; // radius of an atom's share, and width of a small molecule; a bond of RDKit's has 60

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
    const points = Array.from({ length: last - first }, (_, i) => [this.xy[2 * (first + i)], this.xy[2 * (first + i) + 1]]);
    if (this.structures[g]) return this.#structure(svg, this.structures[g], points, share && ((i) => share(first + i)));
    const codes = Array.from({ length: last - first }, (_, i) => this.nodeCodes[first + i]);
    const edges = [];
    for (let e = this.edgeOffsets[g]; e < this.edgeOffsets[g + 1]; e++) edges.push([this.ends[2 * e], this.ends[2 * e + 1]]);
    const unit = this.#frame(svg, points, edges), size = { unit, radius: this.#radius(points, codes, unit) };
    for (const edge of edges) this.#edge(svg, points, edge, size);
    points.forEach((point, i) => this.#node(svg, point, codes[i], points.length, size, share && share(first + i)));
    return svg;
  }

  /* Lines and letters by RDKit, over the colours of shares. */
  #structure(svg, [width, height, ink], points, share) {
    const margin = share ? HALO : 4, [wide, high] = [Math.max(width + 2 * margin, LEAST), Math.max(height + 2 * margin, LEAST / 2)];
    svg.setAttribute("viewBox", `${(width - wide) / 2} ${(height - high) / 2} ${wide} ${high}`);
    if (share) {
      svg.classList.add("shared");
      points.forEach(([x, y], i) => svg.append(element("circle", { class: "share", "data-share": share(i), cx: x, cy: y, r: HALO,
        style: `fill: ${shareColour(share(i))}` })));
    }
    svg.insertAdjacentHTML("beforeend", `<g ${this.look}>${ink}</g>`);
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

  #edge(svg, points, [a, b], { unit, radius }) {
    const look = { class: "link", "stroke-width": 0.06 * unit, "stroke-linecap": "round" }, [p, q] = [points[a], points[b]];
    if (a === b) svg.append(element("circle", { cx: p[0], cy: p[1] - radius, r: radius, ...look }));
    else svg.append(element("line", { x1: p[0], y1: p[1], x2: q[0], y2: q[1], ...look }));
    if (this.directed && a !== b) this.#arrow(svg, p, q, unit, radius);
  }

  #arrow(svg, p, q, unit, radius) {
    const size = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1, [x, y] = [(q[0] - p[0]) / size, (q[1] - p[1]) / size];
    const at = (along, aside) => `${q[0] - along * x - aside * y},${q[1] - along * y + aside * x}`;
    const [far, wide] = [radius + 0.25 * unit, 0.12 * unit];
    svg.append(element("polygon", { class: "head", points: `${at(radius, 0)} ${at(far, wide)} ${at(far, -wide)}` }));
  }

  #node(svg, [x, y], code, n_nodes, { radius }, share) {
    const text = this.texts[code], colour = PALETTE[code % PALETTE.length];
    const circle = element("circle", { class: "node", cx: x, cy: y, r: radius, "stroke-width": 0.13 * radius,
      style: `fill: ${share === null ? colour : shareColour(share)}` }, element("title", {}));
    if (share !== null) circle.setAttribute("data-share", share);
    circle.firstChild.textContent = text;
    svg.append(circle);
    if (n_nodes > FEW || !text) return;
    const [kept, size] = fitted(text, radius);
    const letters = element("text", { x, y, "font-size": size, style: `fill: ${share === null ? inkOn(colour) : "var(--ink)"}`,
      class: "name", "pointer-events": "none" });
    letters.textContent = kept;
    svg.append(letters);
  }
}

/* Orange where a node lowers the prediction, blue where it raises it, the stronger the more. */
const shareColour = (share) => `color-mix(in srgb, var(--${share < 0 ? "away" : "towards"}) ${(100 * Math.abs(share)).toFixed(1)}%, var(--neither))`;
