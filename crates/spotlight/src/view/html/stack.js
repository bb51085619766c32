// Layers by heads: thumbnails on one scale; the one that is chosen stands below them, large.

const hiddenColour = [0x9c, 0xa0, 0xaa, 255];
const numbersOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).concat(255);
/** What an even spread over the positions that a row sees would give. */
const evenAt = (shown, y, x) => shown.outputEven[y] * shown.sourceEven[x];
const stackHeat = (rows, shown) =>
  bitmap(
    rows.map((row, y) => row.map((weight, x) => (weight === null ? null : colour("matrix", weight, evenAt(shown, y, x))))),
    (hex) => (hex === null ? hiddenColour : numbersOf(hex)),
  );

/** One table, large: a label for each row and column, a cell for each weight. */
function largePanel(shown, weights) {
  const said = (y, x) => `${shown.output[y]} ← ${shown.source[x]}: ${weights[y][x] === null ? "hidden" : weights[y][x]}`;
  const cell = (y, x) => {
    const weight = weights[y][x];
    const td = make("td", {
      "aria-label": said(y, x),
      onpointermove: (event) => tip.show(said(y, x), event),
      onpointerleave: () => tip.hide(),
    });
    td.style.background = weight === null ? "rgb(156, 160, 170)" : colour("matrix", weight, evenAt(shown, y, x));
    td.style.width = td.style.minWidth = td.style.height = "22px";
    return td;
  };
  const head = make("tr", {}, make("th"), ...shown.shortSource.map((label) => make("th", { scope: "col" }, label)));
  const rows = shown.shortOutput.map((label, y) => make("tr", {}, make("th", { scope: "row" }, label), ...shown.source.map((_, x) => cell(y, x))));
  return make("table", { class: "stack" }, head, ...rows);
}

/** All panels of a stack. */
function stackView(stack, shown) {
  const section = make("div");
  const place = make("div");
  const all = stack.layers.flatMap((layer) => layer.panels.map((panel) => ({ name: [layer.name, panel.name].filter(Boolean).join(", "), weights: panel.weights })));
  const choose = ({ name, weights }) => place.replaceChildren(make("h3", {}, name), largePanel(shown, weights));
  if (all.length > 1) {
    let at = 0;
    for (const layer of stack.layers) {
      const row = make("div");
      for (const panel of layer.panels) {
        const own = all[at++];
        const picture = stackHeat(panel.weights, shown);
        picture.style.width = clamp(160, shown.source.length, 6 * shown.source.length) + "px";
        picture.style.imageRendering = "pixelated";
        row.append(make("button", { "aria-label": own.name, onclick: () => choose(own) }, picture, make("br"), panel.name), " ");
      }
      section.append(make("h3", {}, layer.name), row);
    }
    section.append(make("p", { class: "hint" }, "choose one to see it large"));
  }
  section.append(place);
  if (all.length) choose(all[0]);
  return section;
}
