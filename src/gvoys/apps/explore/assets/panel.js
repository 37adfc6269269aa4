/* The pinned graph, and cards of others: its nearest, typical ones, the worst errors, those selected. */
const NEIGHBOURS = 10, WORST = 12, MOST_CARDS = 60;
const SIZES = ["nodes", "edges", "mean degree"];

/* As many digits as the bar allows; without one it is exact to the digits shown. */
function shown(value, bar) {
  const cosine = $("cosine").checked, exact = bar <= 1e-6 * Math.abs(value);
  const digits = exact ? 6 : Math.min(Math.max(1 - Math.floor(Math.log10(bar / (cosine ? 1 : Math.abs(value)))), 2), 6);
  const number = cosine ? Math.min(value, 1).toFixed(digits) : value.toPrecision(digits);
  return exact ? number : `${number} ± ${bar < 1e-3 ? bar.toExponential(0) : bar.toPrecision(2)}`;
}

/* -- what can be listed; cards are { graph, group, line } */

const TABS = {
  nearest: {
    name: () => "Nearest",
    about: () => (state.pinned === null ? "Pin a graph to see the ones nearest to it."
      : `Most similar to ${short(title(state.pinned), 40)}, by ${$("cosine").checked ? "cosine similarity" : "kernel value"}.`),
    cards: () => (state.pinned === null ? [] : walks.nearest(state.pinned, NEIGHBOURS).map(({ graph, value, bar }) =>
      ({ graph, line: shown(value, bar) }))),
  },
  typical: {
    name: () => "Typical",
    about: () => `The most typical graph of each ${colouring().classes ? `value of ${colouring().name}` : `third of ${colouring().name}`}.`,
    cards: typicalCards,
  },
  worst: {
    name: () => "Worst errors",
    about: () => `Where the model is farthest off, by ${data.model.measure}.`,
    cards: () => everyone.filter((g) => data.model.errors[g] !== null).sort((a, b) => data.model.errors[b] - data.model.errors[a] || a - b)
      .slice(0, WORST).map((g) => ({ graph: g, line: `${data.model.measure} ${plainNumber(data.model.errors[g], 3)}` })),
  },
  selected: {
    name: () => `Selected (${state.selected.size.toLocaleString("en")})`,
    about: aboutSelected,
    cards: () => [...state.selected].sort((a, b) => a - b).slice(0, MOST_CARDS).map((g) => ({ graph: g, line: "" })),
  },
};

/* Classes, or thirds of the numbers; of many classes the largest. */
function groups() {
  const { classes, values } = colouring(), codes = new Int32Array(walks.n).fill(-1);
  if (!classes) {
    const order = everyone.filter((g) => values[g] !== null).sort((a, b) => values[a] - values[b]);
    order.forEach((g, place) => (codes[g] = Math.floor((3 * place) / order.length)));
    return { codes, names: ["low", "middle", "high"] };
  }
  const sizes = classes.map((_, code) => values.filter((value) => value === code).length);
  const kept = classes.map((_, code) => code).sort((a, b) => sizes[b] - sizes[a]).slice(0, 8).sort((a, b) => a - b);
  everyone.forEach((g) => (codes[g] = kept.indexOf(values[g])));
  return { codes, names: kept.map((code) => classes[code]) };
}

function typicalCards() {
  const { codes, names } = groups();
  return walks.typical(codes, names.length).flatMap((g, code) =>
    (g === null ? [] : [{ graph: g, group: names[code], line: `of ${count(codes.filter((own) => own === code).length, "graph")}` }]));
}

function aboutSelected() {
  const chosen = [...state.selected], property = colouring(), known = chosen.filter((g) => property.values[g] !== null);
  const mean = (graphs) => graphs.reduce((sum, g) => sum + property.values[g], 0) / graphs.length;
  const all = everyone.filter((g) => property.values[g] !== null);
  const of = property.classes ? property.classes.map((name, code) => [name, known.filter((g) => property.values[g] === code).length])
    .filter(([, n]) => n).map(([name, n]) => `${n.toLocaleString("en")} × ${name}`).join(", ")
    : known.length ? `mean ${plainNumber(mean(known), 3)}, of all graphs ${plainNumber(mean(all), 3)}` : "not known";
  return `${property.name}: ${of}.${chosen.length > MOST_CARDS ? ` The first ${MOST_CARDS} are shown; the export has all.` : ""}`;
}

const available = () => ["nearest", "typical", ...(data.model?.errors ? ["worst"] : []), ...(state.selected.size ? ["selected"] : [])];

function openTab(tab) {
  state.tab = tab;
  list();
  paint();
}

function list() {
  if (!available().includes(state.tab)) state.tab = "typical";
  const tab = TABS[state.tab];
  state.cards = tab.cards();
  $("tabs").replaceChildren(...available().map((key) => {
    const button = make("button", { type: "button", id: `tab-${key}`, textContent: TABS[key].name() });
    button.setAttribute("aria-pressed", String(key === state.tab));
    button.addEventListener("click", () => openTab(key));
    return button;
  }));
  $("list-about").textContent = tab.about();
  $("actions").hidden = state.tab !== "selected";
  $("list").replaceChildren(...state.cards.map(card));
}

function card({ graph, group, line }, place) {
  const heading = make("div", { className: "name", textContent: short(title(graph), 60) });
  const button = make("button", { type: "button" }, picture(graph), ...(group ? [make("div", { className: "group", textContent: group })] : []),
    heading, ...(group && colouring().classes ? [] : [make("div", { className: "soft", textContent: `${colouring().name}: ${fact(colouring(), graph)}` })]),
    ...(line ? [make("div", { className: "value", textContent: line })] : []));
  button.dataset.graph = graph;
  button.title = title(graph) + (place < 9 ? ` (key ${place + 1})` : "");
  button.addEventListener("click", () => pin(graph));
  return make("li", {}, button);
}

/* -- the pinned graph */

function pin(g, tab = "nearest") {
  state.pinned = g;
  if (g === null && tab === "nearest") tab = "typical";
  if (document.body.dataset.ready) history.replaceState(null, "", g === null ? location.pathname + location.search : `#${numbers[g]}`);
  $("tip").hidden = true;
  showPinned();
  openTab(tab);
}

function showPinned() {
  const g = state.pinned;
  $("hint").hidden = g !== null;
  $("chosen").textContent = g === null ? "No graph is pinned" : short(title(g), 160);
  $("drawing").replaceChildren(...(g === null ? [] : [picture(g, true)]));
  $("meaning").replaceChildren(...(g === null || !explained || !$("explain").checked ? [] : meaning(g)));
  $("facts").replaceChildren(...(g === null ? [] : facts(g)));
}

function picture(g, large = false) {
  const scale = large && explained && $("explain").checked ? explained.scales[g] : 0;
  const share = scale > 0 ? (node) => explained.values[node] / 127 : null;
  const drawn = drawings.picture(g, `drawing of ${title(g)}`, share);
  if (drawn.childNodes.length) return drawn;
  const nodes = data.sizes[g];
  return make("p", { className: "soft", textContent: nodes ? `${nodes.toLocaleString("en")} nodes are too many to draw` : "a graph without nodes" });
}

function meaning(g) {
  const scale = plainNumber(explained.scales[g], 3), of = data.model.of?.[g], { noun } = data.model;
  const say = of === undefined || of === null ? [`${noun} lower it`, `${noun} raise it`] : [`away from ${of}`, `towards ${of}`];
  return [make("span", { textContent: `−${scale} ${say[0]}` }), make("span", { className: "ramp shares" }), make("span", { textContent: `${say[1]} +${scale}` })];
}

/* What a graph is called, what is known and predicted of it, what is like it, and last its size. */
function facts(g) {
  const rows = (pairs) => pairs.filter(([, value]) => value !== "").flatMap(([name, value]) =>
    [make("dt", { textContent: name }), make("dd", { textContent: value })]);
  const listed = ({ name, values }) => [name, values[g]], of = (property) => [property.name, fact(property, g)];
  const isSize = ({ name }) => SIZES.includes(name);
  return [...rows([["number", String(numbers[g])], ...data.texts.map(listed)]), ...rows(data.properties.filter((each) => !isSize(each)).map(of)),
    ...rows(data.facts.map(listed)), ...(data.library ? inLibrary(g) : []), ...rows(data.properties.filter(isSize).map(of))];
}

function inLibrary(g) {
  const hits = data.library.ids[g].map((id, place) => make("li", {}, make("span", { textContent: id }),
    make("span", { className: "value", textContent: data.library.similarities[g][place].toFixed(3) })));
  return [make("dt", { textContent: `nearest in ${data.library.name}` }), make("dd", {}, make("ol", { id: "library" }, ...hits))];
}

/* -- export */

const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function table(graphs) {
  const columns = [["number", (g) => String(numbers[g])], ["name", (g) => data.captions[g]],
    ...data.texts.map(({ name, values }) => [name, (g) => values[g]]),
    ...data.properties.map((p) => [p.name, (g) => (p.values[g] === null ? "" : p.classes ? p.classes[p.values[g]] : String(p.values[g]))])];
  const lines = [columns.map(([name]) => name), ...graphs.map((g) => columns.map(([, value]) => value(g)))];
  return lines.map((row) => row.map(quoted).join(",")).join("\n") + "\n";
}

function exportSelected() {
  const url = URL.createObjectURL(new Blob([table([...state.selected].sort((a, b) => a - b))], { type: "text/csv" }));
  make("a", { href: url, download: `${data.name.replace(/[^\w.+-]+/g, "_")}-selected.csv` }).click();
  URL.revokeObjectURL(url);
}
