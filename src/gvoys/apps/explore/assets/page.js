/* Keys, controls, and the beginning. */
function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (state.selecting) toggleSelecting(false);
    else if (!$("matches").hidden) endSearch();
    else if (state.selected.size) select([]);
    else pin(null);
    return;
  }
  if (event.target.matches('input[type="search"]')) return;
  const taken = event.target.matches('input[type="range"], select'); // by the control itself
  const step = taken ? 0 : { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (event.key === "/") $("search").focus();
  else if (step) pin(state.pinned === null ? 0 : (state.pinned + step + walks.n) % walks.n);
  else if (/^[1-9]$/.test(event.key) && state.cards[event.key - 1]) pin(state.cards[event.key - 1].graph);
  else return;
  event.preventDefault();
}

/* The address may name a graph, by number or by name: page.html#17, page.html#benzene. */
function follow() {
  const wanted = decodeURIComponent(location.hash.slice(1));
  if (!wanted) return false;
  const byNumber = numbers.indexOf(Number(wanted)), g = byNumber >= 0 ? byNumber : data.captions.findIndex((c) => c.toLowerCase() === wanted.toLowerCase());
  if (g >= 0) pin(g);
  return g >= 0;
}

/* The first screen: typical graphs, the first of them pinned. */
function welcome() {
  state.tab = "typical";
  const first = typicalCards()[0];
  pin(first ? first.graph : null, "typical");
}

function recolour() {
  state.hidden.clear();
  showLegend();
  list();
  paint();
}

function begin() {
  $("name").textContent = data.name;
  $("about").textContent = data.about;
  $("note").textContent = data.model?.note ?? "";
  $("colour").append(...data.properties.map((property, k) => make("option", { value: k, textContent: property.name })));
  $("projection").append(make("option", { value: "pca", textContent: "principal components" }),
    ...(umap ? [make("option", { value: "umap", textContent: "UMAP, weights as given" })] : []));
  $("projection").parentElement.hidden = !umap;
  $("explaining").hidden = !explained;
  $("weighing").open = ROOMY.matches;
  buildWeights();
  walks.weigh(state.shares, true);
  showWeights(false);
  showLegend();
  place();
  paint().then(() => {
    watchMap();
    if (!follow()) welcome();
    document.body.dataset.ready = "yes";
  });
  $("colour").addEventListener("change", recolour);
  $("projection").addEventListener("change", () => { place(); paint(); });
  $("cosine").addEventListener("change", () => reweigh(false));
  $("explain").addEventListener("change", showPinned);
  $("given").addEventListener("click", () => setWeights([...given]));
  $("equal").addEventListener("click", () => setWeights(data.means.map((mean) => (mean > 0 ? full : 0))));
  $("select").addEventListener("click", () => toggleSelecting());
  $("whole").addEventListener("click", showWhole);
  $("export").addEventListener("click", exportSelected);
  $("clear").addEventListener("click", () => select([]));
  $("search").addEventListener("input", showMatches);
  $("finding").addEventListener("keydown", pressInSearch);
  document.addEventListener("keydown", press);
  addEventListener("hashchange", follow);
  DARK.addEventListener("change", paint);
  ROOMY.addEventListener("change", paint);
}

begin();
