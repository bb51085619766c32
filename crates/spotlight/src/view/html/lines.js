// Lines from source to output, as wide as their weights: the matrix read the other way.

/** Weaker lines are not drawn unless their row or column is pinned, or all are weak. */
const WEAKEST = { always: 0.02, pinned: 0.001, share: 0.1 };
const MOST_LINES = 3000;

class Lines {
  constructor(labels, matrix) {
    Object.assign(this, { labels, matrix });
    this.note = make("p", { class: "hint" });
    this.svg = make("svg", { role: "img", "aria-label": "Lines from source units, left, to output units, right" });
    this.element = make("div", { class: "lines", tabindex: 0 }, this.svg, this.note);
    const longest = Math.max(labels.source.length, labels.output.length, 1);
    this.pitch = longest <= 40 ? 22 : 15;
    this.width = 400;
    const widest = [...labels.shortSource, ...labels.shortOutput].reduce((most, label) => Math.max(most, [...label].length), 0);
    this.edge = clamp(20 + 7.3 * widest, 36, 132);
    this.height = this.pitch * longest;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
  }

  y(index, count) {
    return (this.height * (index + 0.5)) / count;
  }

  /** Draws all lines anew, after a change of what is pinned or of the head. */
  draw() {
    const { pinnedRow, pinnedColumn } = this.matrix.selection;
    const pinned = pinnedRow !== null || pinnedColumn !== null;
    const largest = this.matrix.weights.reduce((most, row) => row.reduce((a, b) => Math.max(a, b), most), 0);
    const weakest = Math.min(pinned ? WEAKEST.pinned : WEAKEST.always, Number((WEAKEST.share * largest).toPrecision(1)));
    const found = [];
    this.matrix.weights.forEach((weights, row) => {
      if (pinnedRow !== null && row !== pinnedRow) return;
      weights.forEach((weight, column) => {
        if (weight >= weakest && this.matrix.kept[row][column] && (pinnedColumn === null || column === pinnedColumn)) found.push({ row, column, weight });
      });
    });
    found.sort((a, b) => b.weight - a.weight);
    this.lines = found.slice(0, MOST_LINES).reverse().map((line) => this.line(line));
    const side = (labels, x, anchor, pin) =>
      labels.map((label, i) =>
        make("text", { x, y: this.y(i, labels.length) + 4, "text-anchor": anchor, onclick: () => pin(i) }, label),
      );
    this.source = side(this.labels.shortSource, this.edge - 8, "end", (i) => this.matrix.pin(null, i));
    this.output = side(this.labels.shortOutput, this.width - this.edge + 8, "start", (i) => this.matrix.pin(i, null));
    this.svg.replaceChildren(...this.lines, ...this.source, ...this.output);
    this.note.textContent = `lines from what is read, left, to what is written, right; from weight ${weakest} on${found.length > MOST_LINES ? `, the ${MOST_LINES} strongest` : ""}`;
    this.mark();
  }

  line({ row, column, weight }) {
    const [x0, x1] = [this.edge, this.width - this.edge];
    const [y0, y1] = [this.y(column, this.labels.source.length), this.y(row, this.labels.output.length)];
    const middle = (x0 + x1) / 2;
    const share = clamp(weight / page.scales.find(({ kind }) => kind === (view.matrix === "stretched" ? "stretched" : "unit")).matrix, 0, 1);
    return make("path", {
      d: `M${x0} ${y0.toFixed(1)}C${middle} ${y0.toFixed(1)} ${middle} ${y1.toFixed(1)} ${x1} ${y1.toFixed(1)}`,
      "stroke-width": Math.max(0.4, 7 * share).toFixed(2),
      "stroke-opacity": (0.2 + 0.7 * share).toFixed(2),
      "data-row": row,
      "data-column": column,
      onpointermove: (event) => {
        this.matrix.select(row, column);
        tip.show(this.matrix.describe(row, column), event);
      },
      onpointerleave: (event) => tip.leave(event),
    });
  }

  /** Marks what is chosen, without drawing anew. */
  mark() {
    const { row, column, pinnedRow, pinnedColumn } = this.matrix.selection;
    for (const line of this.lines) line.classList.toggle("on", Number(line.dataset.row) === row && Number(line.dataset.column) === column);
    this.source.forEach((text, i) => text.classList.toggle("on", i === column || i === pinnedColumn));
    this.output.forEach((text, i) => text.classList.toggle("on", i === row || i === pinnedRow));
  }
}

/** A matrix, its heads, its lines and its numbers. `heads` as { name, weights }; `evens` row by row. */
function matrixView(labels, heads, evens, probabilities) {
  const section = make("div");
  if (!heads.length || !labels.source.length || !labels.output.length) {
    section.append(make("p", { class: "sub" }, `no weights: ${labels.source.length} source units, ${labels.output.length} output units`));
    return section;
  }
  const readout = make("p", { class: "readout", role: "status", "aria-live": "polite" });
  let lines = null;
  const matrix = new Matrix(labels, evens, probabilities, (pinned) => {
    readout.textContent = matrix.readout();
    pinned ? lines.draw() : lines.mark();
  });
  lines = new Lines(labels, matrix);
  let current = heads[0];
  const table = numbers(() => ({
    corner: "output",
    columns: probabilities ? [...labels.source, "probability"] : labels.source,
    rows: labels.output,
    values: current.weights.map((row, i) => (probabilities ? [...row, probabilities[i]] : row)),
  }));
  const choose = (head) => {
    current = head;
    matrix.show(head.weights);
    lines.draw();
    table.refresh();
    readout.textContent = matrix.readout();
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(heads[i] === head)));
  };
  const buttons = heads.length > 1 ? heads.map((head) => make("button", { onclick: () => choose(head) }, heat("matrix", head.weights, evens), head.name)) : [];
  if (buttons.length) section.append(make("div", { class: "heads tools", role: "group", "aria-label": "Heads" }, ...buttons));
  const zoom = make("input", { type: "range", min: 2, max: 40, value: matrix.cell, oninput: () => matrix.resize(Number(zoom.value)) });
  section.append(
    make("div", { class: "pair" }, make("div", { class: "map-and-matrix" }, matrix.minimap.canvas, matrix.element), lines.element),
    make("p", { class: "sub evenness" }, evenness(heads.flatMap(({ weights }) => weights), heads.flatMap(() => evens))),
    readout,
    make("div", { class: "tools" }, make("label", {}, "cell size", zoom)),
    make("p", { class: "hint" }, "Point at a cell or tap it for its weight. Click, or tap again, pins its row, Shift and click its column, a label its row or column. With the matrix in focus: arrows move, Enter pins the row, Shift and Enter the column, Escape clears."),
    table,
  );
  choose(heads[0]);
  section.matrix = matrix;
  /** After the section stands on the page, whose width is then known. */
  section.arrive = () => (matrix.fitTo(section.clientWidth), (zoom.value = matrix.cell));
  section.rethreshold = () => (matrix.refresh(), matrix.draw(), lines.draw());
  return section;
}
