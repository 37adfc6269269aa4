/* Colours, a readout for what one points at, and cards in another order. */
const $ = (id) => document.getElementById(id);
const cards = [...document.querySelectorAll(".card")];
const GROUPS = ".attribution, .bars, .sequences"; // each is one stop of Tab, with arrow keys inside
const ITEMS = ".node, [data-said]";
const POINTED = `.edge, ${ITEMS}`;
const HINT = `${matchMedia("(hover: hover)").matches ? "Point at" : "Tap"} ${$("cards").dataset.parts}, a bar or a sequence.`;

/* -- colours */

const channels = (colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));

function palette() {
  const style = getComputedStyle(document.documentElement);
  return ["--away", "--neither", "--towards"].map((name) => channels(style.getPropertyValue(name).trim()));
}

function mixed(share, scale, [away, neither, towards]) {
  const strength = scale > 0 ? Math.min(Math.abs(share) / scale, 1) : 0, end = share > 0 ? towards : away;
  return `#${neither.map((a, k) => Math.round(a + strength * (end[k] - a)).toString(16).padStart(2, "0")).join("")}`;
}

/* Three digits, or all before the point. */
function signed(x) {
  if (!x) return "0";
  const size = Math.floor(Math.log10(Math.abs(x))), digits = Math.max(2 - size, 0);
  const plain = Math.abs(x).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${x < 0 ? "−" : "+"}${size > -4 && size < 9 ? plain : Math.abs(x).toExponential(2)}`;
}

function paint() {
  const colours = palette(), own = cards.map((card) => Number(card.dataset.scale)), largest = Math.max(...own);
  cards.forEach((card, k) => {
    const scale = $("same").checked ? largest : own[k];
    card.querySelector(".low").textContent = signed(-scale);
    card.querySelector(".high").textContent = signed(scale);
    for (const node of card.querySelectorAll(".node"))
      node.querySelector(".disc").setAttribute("fill", mixed(Number(node.dataset.share), scale, colours));
    for (const edge of card.querySelectorAll(".edge"))
      edge.querySelector(".band").setAttribute("stroke", mixed(Number(edge.dataset.share), scale, colours));
  });
}

/* -- what one points at */

const said = (item) => item.dataset.said ?? item.querySelector("title").textContent;

/* A sequence lights the nodes and edges of its fragment. */
function touched(item) {
  if (item.dataset.nodes === undefined) return [item];
  const card = item.closest(".card"), numbers = (text) => text.split(" ").filter(Boolean);
  const all = (kind, text) => numbers(text).map((k) => card.querySelector(`.${kind}[data-${kind}="${k}"]`)).filter(Boolean);
  return [item, ...all("node", item.dataset.nodes), ...all("edge", item.dataset.edges)];
}

function rest(card) {
  card.querySelectorAll(".lit").forEach((each) => each.classList.remove("lit"));
  const readout = card.querySelector(".readout");
  readout.textContent = HINT;
  readout.classList.add("idle");
}

function show(item) {
  const card = item.closest(".card"), readout = card.querySelector(".readout");
  rest(card);
  touched(item).forEach((each) => each.classList.add("lit"));
  readout.textContent = said(item);
  readout.classList.remove("idle");
}

/* Where the pointer leaves, what has the focus is shown again. */
function leave(item) {
  const card = item.closest(".card"), focused = document.activeElement?.closest?.(POINTED);
  if (focused && card.contains(focused)) show(focused);
  else rest(card);
}

/* -- keys */

function focusOn(item) {
  for (const each of item.closest(GROUPS).querySelectorAll(ITEMS)) each.setAttribute("tabindex", each === item ? 0 : -1);
  item.focus();
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const item = event.target.closest(ITEMS);
  if (event.key === "/" && !event.target.matches("input")) $("find").focus();
  else if (event.key === "Escape" && event.target === $("find")) { $("find").value = ""; arrange(); }
  else if (item) {
    const items = [...item.closest(GROUPS).querySelectorAll(ITEMS)], place = items.indexOf(item);
    const next = { ArrowRight: place + 1, ArrowDown: place + 1, ArrowLeft: place - 1, ArrowUp: place - 1, Home: 0, End: items.length - 1 }[event.key];
    if (next === undefined) return;
    focusOn(items[(next + items.length) % items.length]);
  } else return;
  event.preventDefault();
}

/* -- order */

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
const ORDERS = {
  order: (a, b) => a.dataset.order - b.dataset.order,
  rank: (a, b) => a.dataset.rank - b.dataset.rank,
  name: (a, b) => names.compare(a.dataset.name, b.dataset.name) || a.dataset.order - b.dataset.order,
};

/* 2 where the name or the SMILES is what one looks for, 1 where they contain it, else 0; case matters in SMILES. */
function match(card, wanted) {
  const { name, smiles } = card.dataset, small = wanted.toLowerCase();
  if (!wanted || name.toLowerCase() === small || smiles === wanted) return 2;
  return name.toLowerCase().includes(small) || smiles.includes(wanted) ? 1 : 0;
}

function arrange() {
  const wanted = $("find").value.trim(), found = new Map(cards.map((card) => [card, match(card, wanted)]));
  const order = ORDERS[$("sort").value];
  cards.forEach((card) => (card.hidden = !found.get(card)));
  $("cards").append(...[...cards].sort((a, b) => found.get(b) - found.get(a) || order(a, b)));
  const count = cards.filter((card) => !card.hidden).length, all = `${cards.length} graph${cards.length === 1 ? "" : "s"}`;
  $("count").textContent = !wanted ? all : count ? `${count} of ${all}` : "no graph has this";
}

/* -- begin */

function begin() {
  for (const drawing of document.querySelectorAll(".attribution")) {
    drawing.setAttribute("role", "group");
    drawing.querySelectorAll(".node").forEach((node, k) => {
      node.setAttribute("tabindex", k ? -1 : 0);
      node.setAttribute("role", "img");
      node.setAttribute("aria-label", said(node));
    });
    // a finger between two nodes would else be taken for one of them
    drawing.querySelectorAll(".edge").forEach((edge) => edge.setAttribute("tabindex", -1));
  }
  cards.forEach(rest);
  paint();
  arrange();
  const main = $("cards"), on = (name, work, kind) => main.addEventListener(name, (event) => {
    const item = event.target.closest(kind);
    if (item) work(item);
  });
  on("pointerover", show, POINTED);
  on("pointerout", leave, POINTED);
  on("focusin", show, POINTED);
  on("focusout", (item) => rest(item.closest(".card")), POINTED);
  on("click", focusOn, ITEMS);
  document.addEventListener("keydown", press);
  $("find").addEventListener("input", arrange);
  $("find").form.addEventListener("submit", (event) => event.preventDefault());
  $("sort").addEventListener("change", arrange);
  $("same").addEventListener("change", paint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  document.body.dataset.ready = "yes";
}

begin();
