/* What the page was given: arrays from base64, profiles, drawings, columns. */
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const ARRAYS = { float32: Float32Array, int8: Int8Array, int16: Int16Array, uint8: Uint8Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array };

function decode({ type, base64 }) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new ARRAYS[type](bytes.buffer);
}

/* Rounded numbers come with a scale for each row. */
function unpack(packed) {
  const numbers = decode(packed);
  if (!packed.scales) return numbers;
  const scales = decode(packed.scales), width = numbers.length / scales.length, out = new Float32Array(numbers.length);
  for (let row = 0, k = 0; row < scales.length; row++)
    for (const end = k + width; k < end; k++) out[k] = numbers[k] * scales[row];
  return out;
}

const profiles = ({ values, rest, ...length }) => ({ ...length, values: unpack(values),
  rest: rest && { values: unpack(rest), width: rest.width } });
const walks = new Walks({ n: data.captions.length, lengths: data.lengths.map(profiles), diagonal: decode(data.diagonal) });
const drawings = new Drawings({ ...data.drawings, ...Object.fromEntries(
  ["nodeOffsets", "xy", "nodeCodes", "edgeOffsets", "ends"].map((key) => [key, decode(data.drawings[key])])) });
const umap = data.umap ? decode(data.umap) : null;
const numbers = data.numbers ?? Array.from({ length: walks.n }, (_, g) => g);
const everyone = Array.from({ length: walks.n }, (_, g) => g);
const explained = data.model?.shares ? { values: decode(data.model.shares), scales: decode(data.model.shares.scales) } : null;
const state = { shares: data.mu.map((mu, i) => mu * data.means[i]), // of lengths in the mean of K(G, G)
  pinned: null, tab: "typical", cards: [], places: null, selected: new Set(), hidden: new Set(), selecting: false };

/* -- words */

const words = (...parts) => parts.filter((part) => part !== "").join(" · ");
const title = (g) => data.captions[g] || `Graph ${numbers[g]}`;
const minus = (text) => text.replace("-", "−");
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/* A number as people read it. */
function plainNumber(x, digits = 4) {
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return minus(String(x));
  if (x === 0 || (Math.abs(x) >= 1e-3 && Math.abs(x) < 1e6)) return minus(String(Number(x.toPrecision(digits))));
  return minus(x.toExponential(2));
}

function fact(property, g) {
  const value = property.values[g];
  if (value === null) return "not known";
  return property.classes ? property.classes[value] : plainNumber(value, 5);
}

function make(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}
