/* Find a graph by its number, its name or anything the table says of it. */
const MOST_MATCHES = 8;
const fields = [{ name: "", values: data.captions }, ...data.texts].map(({ name, values }) =>
  ({ name, values, small: /smiles/i.test(name) ? null : values.map((text) => text.toLowerCase()) })); // case matters in SMILES

/* How well a text answers: 0 the same to the letter, 1 the same, 2 it begins so, 3 a word begins so, 4 it contains it. */
function rankText(text, small, wanted, wantedSmall) {
  if (text === wanted) return 0;
  const [where, what] = small === null ? [text, wanted] : [small, wantedSmall];
  if (where === what) return 1;
  const at = where.indexOf(what);
  if (at < 0) return Infinity;
  return at === 0 ? 2 : /[\s,;(\[-]/.test(where[at - 1]) ? 3 : 4;
}

function rankGraph(g, wanted, wantedSmall) {
  const number = String(numbers[g]);
  let best = { rank: number === wanted ? 0 : number.startsWith(wanted) ? 2 : Infinity, field: null };
  for (const field of fields) {
    const rank = rankText(field.values[g], field.small?.[g] ?? null, wanted, wantedSmall);
    if (rank < best.rank) best = { rank, field };
  }
  return { graph: g, ...best };
}

function find(text) {
  const wanted = text.trim();
  if (!wanted) return [];
  const length = (hit) => (hit.field ? hit.field.values[hit.graph].length : 0); // shorter ones are nearer to what was typed
  return everyone.map((g) => rankGraph(g, wanted, wanted.toLowerCase())).filter((hit) => hit.rank < Infinity)
    .sort((a, b) => a.rank - b.rank || length(a) - length(b) || a.graph - b.graph);
}

function showMatches() {
  const text = $("search").value, found = find(text);
  $("matches").replaceChildren(...found.slice(0, MOST_MATCHES).map(({ graph, field }) => {
    const where = field?.name ? `${field.name}: ${short(field.values[graph], 50)}` : data.captions[graph] ? `graph ${numbers[graph]}` : "";
    const button = make("button", { type: "button" }, make("span", { textContent: short(title(graph), 50) }),
      make("span", { className: "soft", textContent: where }));
    button.addEventListener("click", () => choose(graph));
    return button;
  }), ...(found.length > MOST_MATCHES ? [make("p", { className: "soft", textContent: `and ${(found.length - MOST_MATCHES).toLocaleString("en")} more` })] : []),
  ...(text.trim() && !found.length ? [make("p", { className: "soft", textContent: "no graph has this" })] : []));
  $("matches").hidden = !text.trim();
}

function endSearch() {
  $("search").value = "";
  $("matches").hidden = true;
  $("matches").replaceChildren();
  document.activeElement?.blur();
}

function choose(g) {
  endSearch();
  pin(g);
}

/* Arrows go through what was found, Enter takes the first or the one that has the focus. */
function pressInSearch(event) {
  const buttons = [...$("matches").querySelectorAll("button")], at = buttons.indexOf(document.activeElement);
  if (event.key === "Enter" && event.target === $("search") && buttons.length) buttons[0].click();
  else if (event.key === "ArrowDown" && buttons.length) buttons[Math.min(at + 1, buttons.length - 1)].focus();
  else if (event.key === "ArrowUp" && at >= 0) (at ? buttons[at - 1] : $("search")).focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
