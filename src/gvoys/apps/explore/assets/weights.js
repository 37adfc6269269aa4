/* The weight of each walk length: a slider stands for its share of the kernel, on a scale that has room for small ones. */
const MOST = 8; // times the largest share at the beginning
const given = [...state.shares], full = Math.max(...given) || 1;
const toMu = (share, i) => (data.means[i] > 0 ? share / data.means[i] : 0);
const currentMu = () => state.shares.map(toMu);
const brief = (x) => (x === 0 || (x >= 1e-3 && x < 1e4) ? x.toPrecision(3) : x.toExponential(1));

const asCode = (x) => (x !== 0 && x < 1e-3 ? x.toExponential(5).replace(/\.?0+e/, "e") : String(Number(x.toPrecision(6))));

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
    $(`share${i}`).textContent = `${(100 * share / total).toFixed(0)} %, mu ${brief(toMu(share, i))}`;
  });
  $("series").textContent = `gv.Coefficients([${currentMu().map(asCode).join(", ")}])`;
}

let waiting = false;
function reweigh(touched = true) {
  walks.weigh(state.shares, $("cosine").checked);
  showWeights(touched);
  if (waiting) return;
  waiting = true; // map and cards follow once per frame, however fast the slider moves
  requestAnimationFrame(() => {
    waiting = false;
    list();
    place();
    paint();
  });
}

function setWeights(shares) {
  state.shares = shares;
  reweigh(false);
}
