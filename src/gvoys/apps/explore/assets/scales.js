/* Colours of the points, and the legend that says what they mean. */
const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const BOTH_WAYS = ["#b35806", "#e08214", "#fdb863", "#d9d9d9", "#8ab8e0", "#3c86c4", "#084f94"]; // too low, right, too high
const FAR = 0.1; // of the middle 96 %: what lies farther beyond them is marked instead of stretching the scale

const colouring = () => data.properties[Number($("colour").value)];

/* The colour scale of numbers: from the 2nd to the 98th percentile, and to the ends where those are not far. */
function scaleOf(property) {
  if (property.scale) return property.scale;
  const known = Float64Array.from(property.values.filter((value) => value !== null)).sort(), n = known.length;
  if (!n) return (property.scale = { low: 0, high: 1, stops: VIRIDIS, isBelow: () => false, isAbove: () => false });
  const at = (share) => known[Math.round(share * (n - 1))];
  let [low, high] = [at(0.02), at(0.98)];
  if (high === low) [low, high] = [known[0], known[n - 1]];
  const reach = FAR * (high - low);
  if (known[0] >= low - reach) low = known[0];
  if (known[n - 1] <= high + reach) high = known[n - 1];
  if (property.both) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
  return (property.scale = { low, high, stops: property.both ? BOTH_WAYS : VIRIDIS,
    isBelow: (value) => value !== null && value < low, isAbove: (value) => value !== null && value > high });
}

const colourOf = (property, code) =>
  (property.classes.length <= PALETTE.length ? PALETTE[code] : `hsl(${360 * code / property.classes.length}, 60%, 50%)`);

function showLegend() {
  const property = colouring();
  $("legend").replaceChildren(make("span", { className: "column", textContent: property.name }),
    ...(property.classes ? chips(property) : ramp(property)));
}

/* One button for each class: a click hides or shows its points. */
function chips(property) {
  return property.classes.map((name, code) => {
    const dot = make("i");
    dot.style.background = colourOf(property, code);
    const chip = make("button", { type: "button", className: "chip" }, dot, name);
    chip.setAttribute("aria-pressed", String(!state.hidden.has(code)));
    chip.title = state.hidden.has(code) ? "show these graphs" : "hide these graphs";
    chip.addEventListener("click", () => {
      if (!state.hidden.delete(code)) state.hidden.add(code);
      showLegend();
      paint();
    });
    return chip;
  });
}

function ramp(property) {
  const scale = scaleOf(property), strip = make("span", { className: "ramp" });
  strip.style.background = `linear-gradient(to right, ${scale.stops.join(", ")})`;
  const missing = property.values.filter((value) => value === null).length;
  const [below, above] = [scale.isBelow, scale.isAbove].map((test) => property.values.filter(test).length);
  const notes = [below ? `▼ ${below.toLocaleString("en")} below` : "", above ? `▲ ${above.toLocaleString("en")} above` : "",
    missing ? `${missing.toLocaleString("en")} not known` : ""];
  const shown = make("span", { className: "scale" }, make("span", { textContent: plainNumber(scale.low, 3) }), strip,
    make("span", { textContent: plainNumber(scale.high, 3) }));
  return [shown, make("span", { className: "soft", textContent: words(...notes) })];
}
