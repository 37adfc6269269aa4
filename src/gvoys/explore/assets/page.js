/* The page: a map, the pinned graph, its neighbours, and the weights. */
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const NEIGHBOURS = 10;

function decode({ type, base64 }) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new { float32: Float32Array, int8: Int8Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array }[type](bytes.buffer);
}

/* Numbers that are random come as bytes with a scale for each row. */
function unpack(packed) {
  const numbers = decode(packed);
  if (!packed.scales) return numbers;
  const scales = decode(packed.scales), width = numbers.length / scales.length;
  return Float32Array.from(numbers, (x, k) => x * scales[Math.floor(k / width)]);
}

const profiles = ({ values, rest, ...length }) => ({ ...length, values: unpack(values),
  rest: rest && { values: unpack(rest), width: rest.width } });
const walks = new Walks({ n: data.captions.length, lengths: data.lengths.map(profiles), diagonal: decode(data.diagonal) });
const drawings = new Drawings({ ...data.drawings, ...Object.fromEntries(
  ["nodeOffsets", "xy", "nodeCodes", "edgeOffsets", "ends", "orders"].map((key) => [key, decode(data.drawings[key])])) });
const umap = data.umap ? decode(data.umap) : null;
const given = data.mu.map((mu, i) => mu * data.means[i]); // shares of lengths in the mean of K(G, G)
const state = { shares: [...given], pinned: null, neighbours: [], places: null };
const numbers = data.numbers ?? Array.from({ length: walks.n }, (_, g) => g);

/* -- words */

const words = (...parts) => parts.filter((part) => part !== "").join(" · ");
const title = (g) => `Graph ${numbers[g]}`;
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;"); // Plotly reads names as HTML

function fact(property, g) {
  const value = property.values[g];
  if (value === null) return "none";
  return property.classes ? property.classes[value] : String(Number(value.toPrecision(6)));
}

/* As many digits as the bar allows; without one it is exact to the digits shown. */
function shown(value, bar) {
  const cosine = $("cosine").checked, exact = bar <= 1e-6 * Math.abs(value);
  const digits = exact ? 6 : Math.min(Math.max(1 - Math.floor(Math.log10(bar / (cosine ? 1 : Math.abs(value)))), 2), 6);
  const number = cosine ? Math.min(value, 1).toFixed(digits) : value.toPrecision(digits);
  return exact ? number : `${number} ± ${bar < 1e-3 ? bar.toExponential(0) : bar.toPrecision(2)}`;
}
const brief = (x) => (x === 0 || (x >= 1e-3 && x < 1e4) ? x.toPrecision(3) : x.toExponential(1));
const colouring = () => data.properties[Number($("colour").value)];

function make(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

/* -- the map */

function drawable() {
  try {
    return document.createElement("canvas").getContext("webgl") ? "scattergl" : "scatter";
  } catch {
    return "scatter";
  }
}
const KIND = drawable();

function traces() {
  const property = colouring(), { x, y } = state.places;
  const trace = (graphs, more) => ({ type: KIND, uirevision: $("colour").value, mode: "markers", hoverinfo: "none", customdata: graphs,
    x: graphs.map((g) => x[g]), y: graphs.map((g) => y[g]), ...more });
  const all = Array.from({ length: walks.n }, (_, g) => g);
  const size = walks.n > 2000 ? 5 : 7;
  if (!property.classes) {
    return [trace(all, { showlegend: false, marker: { size, color: property.values, colorscale: "Viridis", opacity: 0.85,
      colorbar: { title: { text: plain(property.name) }, thickness: 12 } } })];
  }
  const count = property.classes.length, few = count <= PALETTE.length;
  return property.classes.map((name, code) => trace(all.filter((g) => property.values[g] === code),
    { name: plain(`${property.name} ${name}`), showlegend: few,
      marker: { size, opacity: 0.85, color: few ? PALETTE[code] : `hsl(${360 * code / count}, 65%, 45%)` } }));
}

function rings() {
  const { x, y } = state.places, near = state.neighbours.map((n) => n.graph);
  const ring = (graphs, size, colour) => ({ type: "scatter", mode: "markers", hoverinfo: "skip", showlegend: false,
    x: graphs.map((g) => x[g]), y: graphs.map((g) => y[g]), marker: { size, color: "rgba(0,0,0,0)", line: { width: 2, color: colour } } });
  return [ring(near, 12, "#444"), ring(state.pinned === null ? [] : [state.pinned], 18, "#d00000")];
}

function axis(k) {
  if ($("projection").value === "umap") return { title: { text: `UMAP ${k + 1}` } };
  return { title: { text: `principal component ${k + 1}, ${(100 * state.places.shares[k]).toFixed(1)} %` } };
}

function paint() {
  const layout = { margin: { l: 50, r: 10, t: 10, b: 45 }, hovermode: "closest", uirevision: $("projection").value,
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", uirevision: $("colour").value },
    xaxis: { ...axis(0), zeroline: false }, yaxis: { ...axis(1), zeroline: false } };
  return Plotly.react("map", [...traces(), ...rings()], layout,
    { responsive: true, displaylogo: false, displayModeBar: innerWidth > 700 ? "hover" : false, scrollZoom: true, modeBarButtonsToRemove: ["select2d", "lasso2d"] });
}

function place() {
  state.places = $("projection").value === "umap"
    ? { x: umap.filter((_, j) => j % 2 === 0), y: umap.filter((_, j) => j % 2 === 1) }
    : walks.project();
}

/* -- the pinned graph, and its neighbours */

function pin(g) {
  state.pinned = g;
  history.replaceState(null, "", g === null ? location.pathname + location.search : `#${numbers[g]}`);
  $("tip").hidden = true;
  rank();
  paint();
}

function rank() {
  const g = state.pinned;
  state.neighbours = g === null ? [] : walks.nearest(g, NEIGHBOURS);
  $("hint").hidden = g !== null;
  $("nearest-title").hidden = g === null;
  $("drawing").replaceChildren(...(g === null ? [] : [picture(g)]));
  $("facts").replaceChildren(...(g === null ? [] : facts(g)));
  $("nearest").replaceChildren(...state.neighbours.map(neighbour));
  $("chosen").textContent = g === null ? "No graph is pinned" : title(g);
}

function picture(g) {
  const drawn = drawings.picture(g, `drawing of graph ${numbers[g]}`);
  if (drawn.childNodes.length) return drawn;
  const nodes = data.sizes[g];
  return make("p", { className: "soft", textContent: nodes ? `${nodes} nodes are too many to draw` : "a graph without nodes" });
}

function facts(g) {
  const rows = data.captions[g] ? [["", data.captions[g]]] : [];
  rows.push(...data.properties.map((property) => [property.name, fact(property, g)]));
  return rows.flatMap(([name, value]) => [make("dt", { textContent: name }), make("dd", { textContent: value })]);
}

function neighbour({ graph, value, bar }, place) {
  const what = words(`${place + 1}`, title(graph), colouring().name === "nodes" ? "" : `${colouring().name} ${fact(colouring(), graph)}`);
  const button = make("button", { type: "button" }, picture(graph), make("div", { className: "soft", textContent: what }),
    make("div", { className: "value", textContent: shown(value, bar) }));
  button.dataset.graph = graph;
  button.addEventListener("click", () => pin(graph));
  return make("li", {}, button);
}

/* -- hovering */

function hover(event) {
  const g = event.points[0].customdata;
  if (g === undefined) return;
  const tip = $("tip"), { clientX, clientY } = event.event;
  tip.replaceChildren(picture(g), make("strong", { textContent: title(g) }),
    make("div", { className: "soft", textContent: words(data.captions[g].slice(0, 80), `${colouring().name} ${fact(colouring(), g)}`) }));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${clientX + 16 + box.width > innerWidth ? Math.max(clientX - box.width - 16, 0) : clientX + 16}px`;
  tip.style.top = `${Math.max(Math.min(clientY - 40, innerHeight - box.height - 8), 0)}px`;
}

/* -- weights: a slider stands for a length's share of the kernel, on a scale that has room for small ones */

const MOST = 8; // times the largest share at the beginning
const full = Math.max(...given) || 1;
const toMu = (share, i) => (data.means[i] > 0 ? share / data.means[i] : 0);
const currentMu = () => state.shares.map(toMu);

function buildWeights() {
  $("weights").replaceChildren(...data.mu.map((_, i) => {
    const slider = make("input", { type: "range", min: 0, max: 1, step: 0.001, id: `mu${i}`, disabled: !data.means[i] });
    slider.addEventListener("input", () => {
      state.shares[i] = MOST * slider.valueAsNumber ** 3 * full;
      reweigh();
    });
    return make("label", { htmlFor: `mu${i}` }, `length ${i}`, slider, make("output", { id: `share${i}` }));
  }));
}

function showWeights(touched) {
  const total = state.shares.reduce((a, b) => a + b, 0) || 1;
  state.shares.forEach((share, i) => {
    if (document.activeElement?.id !== `mu${i}` || !touched) $(`mu${i}`).value = Math.cbrt(share / full / MOST);
    $(`share${i}`).textContent = `${brief(toMu(share, i))}, ${(100 * share / total).toFixed(0)} %`;
  });
  $("series").textContent = `gv.Coefficients([${currentMu().map((mu) => Number(mu.toPrecision(6))).join(", ")}])`;
}

let waiting = false;
function reweigh(touched = true) {
  walks.weigh(state.shares, $("cosine").checked);
  showWeights(touched);
  rank();
  if (waiting) return;
  waiting = true; // the map follows once per frame, however fast the slider moves
  requestAnimationFrame(() => {
    waiting = false;
    place();
    paint();
  });
}

function setWeights(shares) {
  state.shares = shares;
  reweigh(false);
}

/* -- finding */

function find(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const found = numbers.flatMap((number, g) => (String(number) === wanted ? [g] : []));
  for (let g = 0; g < walks.n && found.length < 8; g++) {
    if (String(numbers[g]) !== wanted && (String(numbers[g]).startsWith(wanted) || data.captions[g].toLowerCase().includes(wanted))) found.push(g);
  }
  return found;
}

function showMatches() {
  const text = $("search").value, found = find(text);
  $("matches").replaceChildren(...found.map((g) => {
    const button = make("button", { type: "button", textContent: words(title(g), data.captions[g].slice(0, 40)) });
    button.addEventListener("click", () => choose(g));
    return button;
  }), ...(text.trim() && !found.length ? [make("span", { className: "soft", textContent: "no graph has this" })] : []));
}

function endSearch() {
  $("search").value = "";
  $("matches").replaceChildren();
  document.activeElement?.blur();
}

function choose(g) {
  endSearch();
  pin(g);
}

/* -- keys */

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    choose(null);
    return;
  }
  if (event.target.matches('input[type="search"]')) return;
  const taken = event.target.matches('input[type="range"], select'); // by the control itself
  const step = taken ? 0 : { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (event.key === "/") $("search").focus();
  else if (step) pin(state.pinned === null ? 0 : (state.pinned + step + walks.n) % walks.n);
  else if (/^[1-9]$/.test(event.key) && state.neighbours[event.key - 1]) pin(state.neighbours[event.key - 1].graph);
  else return;
  event.preventDefault();
}

/* -- begin */

/* The address may name a graph: page.html#17. */
function follow() {
  const asked = numbers.indexOf(Number(location.hash.slice(1)));
  if (location.hash && asked >= 0) pin(asked);
}

function begin() {
  $("name").textContent = data.name;
  $("about").textContent = data.about;
  $("colour").append(...data.properties.map((property, k) => make("option", { value: k, textContent: property.name })));
  $("projection").append(make("option", { value: "pca", textContent: "principal components, live" }),
    ...(umap ? [make("option", { value: "umap", textContent: "UMAP, weights as given" })] : []));
  buildWeights();
  walks.weigh(state.shares, true);
  showWeights(false);
  place();
  paint().then(() => {
    $("map").on("plotly_hover", hover);
    $("map").on("plotly_unhover", () => ($("tip").hidden = true));
    $("map").on("plotly_click", (event) => event.points[0].customdata !== undefined && pin(event.points[0].customdata));
    follow();
    document.body.dataset.ready = "yes";
  });
  $("colour").addEventListener("change", () => { rank(); paint(); });
  $("projection").addEventListener("change", () => { place(); paint(); });
  $("cosine").addEventListener("change", () => reweigh(false));
  $("given").addEventListener("click", () => setWeights([...given]));
  $("equal").addEventListener("click", () => setWeights(data.means.map((mean) => (mean > 0 ? full : 0))));
  $("search").addEventListener("input", showMatches);
  $("search").addEventListener("keydown", (event) => {
    const found = find($("search").value);
    if (event.key === "Enter" && found.length) choose(found[0]);
  });
  document.addEventListener("keydown", press);
  addEventListener("hashchange", follow);
}

begin();
