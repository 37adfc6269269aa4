/* The map: every point is a graph. WebGL draws many of them; Plotly compiles scripts for it, as the page's policy allows then. */
function drawable() {
  try {
    return data.many && document.createElement("canvas").getContext("webgl") ? "scattergl" : "scatter";
  } catch {
    return "scatter";
  }
}
const KIND = drawable();
const ROOMY = matchMedia("(min-width: 44rem)"), DARK = matchMedia("(prefers-color-scheme: dark)");
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function traces() {
  const property = colouring(), { x, y } = state.places;
  const size = walks.n > 2000 ? 5 : 8, line = { width: walks.n > 2000 ? 0 : 0.6, color: css("--rim") };
  const trace = (graphs, marker, more = {}) => ({ type: KIND, mode: "markers", hoverinfo: "none", showlegend: false,
    customdata: graphs, x: graphs.map((g) => x[g]), y: graphs.map((g) => y[g]), marker: { size, opacity: 0.9, line, ...marker },
    ...(state.selected.size ? { selectedpoints: graphs.flatMap((g, place) => (state.selected.has(g) ? [place] : [])) } : {}),
    unselected: { marker: { opacity: 0.15 } }, ...more });
  if (property.classes)
    return property.classes.map((name, code) => trace(everyone.filter((g) => property.values[g] === code),
      { color: colourOf(property, code) }, { visible: !state.hidden.has(code) }));
  const { low, high, stops, isBelow, isAbove } = scaleOf(property), value = (g) => property.values[g];
  const colorscale = stops.map((stop, k) => [k / (stops.length - 1), stop]);
  const known = (test, symbol, more) => {
    const graphs = everyone.filter((g) => value(g) !== null && test(value(g)));
    return trace(graphs, { color: graphs.map(value), colorscale, cmin: low, cmax: high, symbol, ...more });
  };
  const large = walks.n > 2000 ? { size: size + 2, line: { width: 0.5, color: css("--rim") } } : { size: size + 3, line: { width: 1, color: css("--ink") } };
  return [trace(everyone.filter((g) => value(g) === null), { color: css("--edge"), opacity: 0.5 }),
    known((v) => !isBelow(v) && !isAbove(v), "circle"), known(isBelow, "triangle-down", large), known(isAbove, "triangle-up", large)];
}

function rings() {
  const { x, y } = state.places, listed = state.tab === "selected" ? [] : state.cards;
  const ring = (graphs, size, width, colour) => ({ type: KIND, mode: "markers", hoverinfo: "skip", showlegend: false,
    x: graphs.map((g) => x[g]), y: graphs.map((g) => y[g]), marker: { size, symbol: "circle-open", color: colour, line: { width, color: colour } } });
  return [ring(listed.map((card) => card.graph), 14, 1.5, css("--ink")), ring(state.pinned === null ? [] : [state.pinned], 20, 2.5, css("--pin"))];
}

/* What typical graphs are typical of, legible over any points. */
function flags() {
  const { x, y } = state.places, cards = state.tab === "typical" ? state.cards : [];
  return cards.map(({ graph, group }, place) => ({ x: x[graph], y: y[graph], text: plain(short(group, 18)), showarrow: false, yshift: place % 2 ? -20 : 20,
    bgcolor: css("--paper"), bordercolor: css("--edge"), borderwidth: 1, borderpad: 2, font: { size: 12, color: css("--ink") } }));
}

const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;"); // Plotly reads text as HTML

function axis(k) {
  const name = $("projection").value === "umap" ? `UMAP ${k + 1}`
    : `principal component ${k + 1} (${(100 * state.places.shares[k]).toFixed(0)} % of the variance)`;
  return { title: { text: name, font: { size: 12 } }, zeroline: false, gridcolor: css("--line"), tickfont: { size: 11 },
    showticklabels: ROOMY.matches, color: css("--soft") };
}

/* A finger scrolls the page and taps points; it draws only while a region is selected. */
const dragging = () => (state.selecting ? "lasso" : matchMedia("(pointer: coarse)").matches ? false : "pan");

function paint() {
  const tight = !ROOMY.matches;
  const layout = { margin: tight ? { l: 30, r: 8, t: 8, b: 38 } : { l: 56, r: 12, t: 12, b: 50 }, hovermode: "closest",
    uirevision: $("projection").value, selectionrevision: state.selected.size, showlegend: false, dragmode: dragging(),
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: css("--paper"), font: { family: "system-ui, sans-serif", color: css("--ink") },
    newselection: { line: { color: css("--ink"), width: 1, dash: "dot" } }, selections: [], annotations: flags(), xaxis: axis(0), yaxis: axis(1) };
  return Plotly.react("map", [...traces(), ...rings()], layout,
    { responsive: true, displaylogo: false, displayModeBar: false, scrollZoom: true, doubleClick: "reset" });
}

function place() {
  state.places = $("projection").value === "umap"
    ? { x: umap.filter((_, j) => j % 2 === 0), y: umap.filter((_, j) => j % 2 === 1) }
    : walks.project();
}

const showWhole = () => Plotly.relayout("map", { "xaxis.autorange": true, "yaxis.autorange": true });

/* -- hovering */

function hover(event) {
  const g = event.points[0].customdata;
  if (g === undefined || state.selecting) return;
  const tip = $("tip"), { clientX, clientY } = event.event;
  tip.replaceChildren(picture(g), make("strong", { textContent: short(title(g), 80) }),
    make("div", { className: "soft", textContent: `${colouring().name}: ${fact(colouring(), g)}` }));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${clientX + 16 + box.width > innerWidth ? Math.max(clientX - box.width - 16, 0) : clientX + 16}px`;
  tip.style.top = `${Math.max(Math.min(clientY - 40, innerHeight - box.height - 8), 0)}px`;
}

/* -- a region */

function toggleSelecting(on = !state.selecting) {
  state.selecting = on;
  $("select").setAttribute("aria-pressed", String(on));
  $("tip").hidden = true;
  return Plotly.relayout("map", { dragmode: dragging() });
}

function select(graphs) {
  state.selected = new Set(graphs);
  toggleSelecting(false);
  if (state.selected.size) openTab("selected");
  else openTab(state.tab === "selected" ? "typical" : state.tab);
}

function watchMap() {
  const map = $("map");
  map.on("plotly_hover", hover);
  map.on("plotly_unhover", () => ($("tip").hidden = true));
  map.on("plotly_click", (event) => event.points[0].customdata !== undefined && pin(event.points[0].customdata));
  map.on("plotly_selected", (event) => state.selecting && event && // not what painting again sets off
    select(event.points.map((point) => point.customdata).filter((g) => g !== undefined)));
}
