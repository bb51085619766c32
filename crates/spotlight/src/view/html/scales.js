// The three scales, the threshold, and the switches for them. The same rules as in the other forms.

/** What is switched: the scale of matrices and of texts, merged words, and how much of the mass is shown. */
const view = { matrix: page.start.matrix, text: page.start.text, words: false, mass: 1 };

const darkPaper = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => page.theme === "dark" || (page.theme === "auto" && darkPaper.matches);
const scaleOf = (part) => page.scales.find(({ kind }) => kind === view[part]);
const tableOf = (scale) => (scale.diverging ? page.tables.diverging[isDark() ? 1 : 0] : page.tables.sequential);

const hundredths = (share) => Math.min(100, Math.max(0, Math.round(share * 100)));
const times = (weight, even) => (even > 0 ? weight / even : 1);

/** Where a weight lies between the ends of the scale, in hundredths. */
function step(part, weight, even) {
  const scale = scaleOf(part);
  const top = scale[part];
  if (!scale.diverging) return hundredths(weight / top);
  return hundredths(0.5 + (0.5 * Math.log(clamp(times(weight, even), 1 / top, top))) / Math.log(top));
}

const colour = (part, weight, even) => tableOf(scaleOf(part)).colours[step(part, weight, even)];
const ink = (part, weight, even) => tableOf(scaleOf(part)).inks[step(part, weight, even)];

/** A weight in three characters. */
const short = (weight) => (hundredths(weight) === 100 ? "1.0" : "." + String(hundredths(weight)).padStart(2, "0"));
const longTimes = (value) => (value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0)) + "×";
const shortTimes = (value) => (value < 9.95 ? value.toFixed(1) : value.toFixed(0));

/** How the numbers of a text are written: times uniform, or hundredths, or thousandths where hundredths would all be the same. */
function figures(weights) {
  if (scaleOf("text").diverging) return (weight, even) => longTimes(times(weight, even));
  const nothing = weights.filter((weight) => hundredths(weight) === 0).length;
  const thousandths = weights.length > 1 && (Math.max(...weights) < 0.095 || 2 * nothing > weights.length);
  return (weight) => (thousandths ? `${1000 * weight < 9.95 ? (1000 * weight).toFixed(1) : (1000 * weight).toFixed(0)}‰` : short(weight));
}

/** The same for a cell of a matrix; an empty one says zero by its colour. */
function figure(weight, even) {
  if (scaleOf("matrix").diverging) return shortTimes(times(weight, even));
  return hundredths(weight) === 0 ? "" : short(weight);
}

/** What is said of weights that do not differ; weights and evens row by row. */
function evenness(rows, evens) {
  const all = rows.flatMap((row, y) => row.map((weight, x) => (evens[y][x] < 1 ? times(weight, evens[y][x]) : NaN)));
  const most = all.filter((value) => !isNaN(value)).reduce((a, b) => Math.max(a, b), -Infinity);
  return most >= 1 / page.nearly && most <= page.nearly ? `nearly uniform (at most ${most.toFixed(2)} times)` : "";
}

/** Which weights of a row make up the mass that is shown: the heaviest first, until it is full. */
function kept(row) {
  const whole = row.reduce((sum, weight) => sum + weight, 0);
  if (view.mass >= 1 || !(whole > 0)) return row.map(() => true);
  const mask = row.map(() => false);
  let sum = 0;
  for (const i of row.map((_, i) => i).sort((a, b) => row[b] - row[a])) {
    if (sum >= view.mass * whole - 1e-6) break;
    mask[i] = true;
    sum += row[i];
  }
  return mask;
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).concat(255);

/** A table of weights, a pixel each. */
function heat(part, rows, evens) {
  const table = tableOf(scaleOf(part)).colours.map(channels);
  let y = -1;
  return bitmap(rows.map((row) => (y++, row.map((weight, x) => step(part, weight, evens[y][x])))), (at) => table[at]);
}

/** The scale from end to end, and its name. */
function legend(part) {
  const scale = scaleOf(part);
  const table = tableOf(scale).colours;
  const ends = scale.diverging ? [`1/${scale[part]}`, scale[part]] : [0, scale[part]];
  return make("div", { class: `legend of-${part}` }, make("span", {}, String(ends[0])), bitmap([table], channels), make("span", { class: "top" }, String(ends[1])), make("span", { class: "scale-name" }, scale.name));
}

/** Buttons of which one is pressed. */
function choices(label, options, chosen, choose) {
  const button = ({ value, text }) => make("button", { "data-value": value, "aria-pressed": String(value === chosen), onclick: () => choose(value) }, text);
  return make("div", { class: "choices", role: "group", "aria-label": label }, make("span", {}, label), ...options.map(button));
}

/** The switches of the page; `changed` draws it anew. */
function switches(picture, merged, other, changed) {
  const parts = picture.kind === "matrix" ? ["matrix"] : picture.kind === "match" && picture.cross ? ["text", "matrix"] : ["text"];
  const same = parts.every((part) => view[part] === view[parts[0]]);
  const scales = page.scales.map(({ kind }) => ({ value: kind, text: { unit: "0 to 1", stretched: "stretched", uniform: "times uniform" }[kind] }));
  const rows = [choices("scale", scales, same ? view[parts[0]] : "", (kind) => changed(() => parts.forEach((part) => (view[part] = kind))))];
  if (other) {
    const words = make("input", { type: "checkbox", class: "words", checked: merged, onchange: () => changed(() => (view.words = !view.words)) });
    rows.push(make("label", {}, words, "subwords merged to words"));
  }
  if (picture.kind !== "bag") {
    const says = make("span", { class: "mass-says" });
    const tell = () => (says.textContent = view.mass >= 1 ? "all weights" : `the heaviest ${Math.round(100 * view.mass)} % of each row`);
    const mass = make("input", { type: "range", class: "mass", min: 10, max: 100, value: Math.round(100 * view.mass), "aria-label": "share of the mass that is shown", oninput: () => (changed(() => (view.mass = Number(mass.value) / 100), true), tell()) });
    tell();
    rows.push(make("label", {}, "shown", mass, says));
  }
  return [...rows, ...parts.map(legend)];
}

/** How words were merged, for the legend. */
function mergedNote(picture) {
  const several = (pieces) => (pieces ?? []).some((pieces) => pieces > 1);
  const merged = several(picture.pieces) || several(picture.question?.pieces) || several(picture.answer?.pieces);
  const uniform = picture.kind === "matrix" ? scaleOf("matrix").diverging : scaleOf("text").diverging;
  if (!merged) return "";
  return `words are merged: the weights of the pieces added up, ${uniform ? "against their share of all pieces" : "so a word of many pieces gains"}`;
}
