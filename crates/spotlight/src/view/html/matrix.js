// A matrix on a canvas. Only what is in sight is drawn, labels stay at the edges while the cells scroll, so size does not matter.

class Matrix {
  /** `labels`: { source, output } in full and { shortSource, shortOutput } for the edges; `evens`: what an even spread would give. */
  constructor(labels, evens, probabilities, changed) {
    Object.assign(this, { labels, evens, probabilities, changed });
    // A text that runs from right to left begins at the right.
    this.leftward = labels.sourceLeftward;
    this.selection = { row: null, column: null, pinnedRow: null, pinnedColumn: null };
    const longest = Math.max(labels.source.length, labels.output.length);
    this.cell = longest <= 26 ? 30 : longest <= 50 ? 20 : 14;
    this.minimap = new Minimap(this);
    this.canvas = make("canvas");
    this.extent = make("div", { class: "extent" });
    this.element = make(
      "div",
      {
        class: "matrix",
        tabindex: 0,
        role: "application",
        "aria-label": "Matrix of weights. Arrows move, Enter pins the row, Shift and Enter the column, Escape clears.",
        onscroll: () => (tip.hide(), this.draw()),
        onpointermove: (event) => this.hover(event),
        onpointerleave: (event) => tip.leave(event),
        onclick: (event) => this.click(event),
        onkeydown: (event) => this.key(event),
      },
      this.canvas,
      this.extent,
    );
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(weights) {
    this.weights = weights;
    this.refresh();
    this.layout();
  }

  /** Colours and what is kept, after a change of scale or threshold. */
  refresh() {
    this.kept = this.weights.map(kept);
    const turned = (rows) => (this.leftward ? rows.map((row) => [...row].reverse()) : rows);
    this.heat = heat("matrix", turned(this.weights), turned(this.evens));
  }

  /** The place of a column from the left, and the column at such a place. */
  place(column) {
    return this.leftward ? this.labels.source.length - 1 - column : column;
  }

  /** Cells as large as let the matrix fit the screen, if they stay large enough for a finger. */
  fitTo(width) {
    const fitting = Math.floor((width - this.left - this.right) / this.labels.source.length);
    if (fitting < this.cell && fitting >= 16) this.resize(fitting);
  }

  /** Room for the labels, from their widths. */
  layout() {
    const { cell } = this;
    this.font = clamp(Math.floor(cell * 0.5), 9, 13);
    const context = this.canvas.getContext("2d");
    context.font = `${this.font}px ${style("--mono")}`;
    const widest = (labels) => labels.reduce((most, label) => Math.max(most, context.measureText(label).width), 0);
    const across = widest(this.labels.shortSource);
    const axis = this.labels.axes ? context.measureText(this.labels.axes[0] + " ↓").width : 0;
    this.left = Math.ceil(Math.max(widest(this.labels.shortOutput), axis)) + 14;
    this.turn = across <= cell ? 0 : cell >= 14 ? Math.PI / 4 : Math.PI / 2;
    this.axis = this.font + 6;
    this.top = this.axis + Math.ceil(this.turn ? across * Math.sin(this.turn) + this.font + 8 : this.font + 12);
    const overhang = this.turn ? Math.max(0, across * Math.cos(this.turn) - cell / 2) : 0;
    this.right = Math.ceil(Math.max(overhang, this.probabilities ? 44 : 0)) + 6;
    this.width = this.left + cell * this.labels.source.length + this.right;
    this.height = this.top + cell * this.labels.output.length + 6;
    this.extent.style.width = this.width + "px";
    this.extent.style.height = this.height + "px";
    this.element.style.width = this.width + "px";
    this.element.style.height = this.height + "px";
    // Where the cells are, for those who look from outside.
    Object.assign(this.element.dataset, { left: this.left, top: this.top, cell });
    this.draw();
  }

  draw() {
    if (!this.weights) return;
    const { element } = this;
    const [width, height] = [Math.max(1, element.clientWidth), Math.max(1, element.clientHeight)];
    this.paint(fit(this.canvas, width, height), width, height, element.scrollLeft, element.scrollTop);
    this.minimap.draw();
  }

  /** Paints what is in sight; also onto something that only takes notes, for a file of it. */
  paint(context, width, height, scrollX, scrollY) {
    const { cell, left, top } = this;
    const [columns, rows] = [this.labels.source.length, this.labels.output.length];
    const x = (place) => left + cell * place - scrollX;
    const y = (row) => top + cell * row - scrollY;
    const first = { column: Math.max(0, Math.floor(scrollX / cell)), row: Math.max(0, Math.floor(scrollY / cell)) };
    const last = { column: Math.min(columns, Math.ceil((scrollX + width) / cell)), row: Math.min(rows, Math.ceil((scrollY + height) / cell)) };

    context.imageSmoothingEnabled = false;
    context.drawImage(this.heat, x(0), y(0), cell * columns, cell * rows);
    if (view.mass < 1) this.hideRest(context, x, y, first, last);
    if (cell >= 18) this.gaps(context, x, y, first, last);
    if (cell >= 28) this.figures(context, x, y, first, last);
    this.veil(context, x, y, columns, rows);
    this.outline(context, x, y);

    context.font = `${this.font}px ${style("--mono")}`;
    context.textBaseline = "middle";
    context.fillStyle = style("--paper");
    context.fillRect(0, 0, left, height);
    this.rowLabels(context, y, first.row, last.row);
    if (this.probabilities) this.beside(context, x(columns) + 8, y, first.row, last.row);
    context.fillStyle = style("--paper");
    context.fillRect(0, 0, width, top);
    this.columnLabels(context, x, first.column, last.column);
    if (this.probabilities) this.caption(context, x(columns) + 8);
    context.fillStyle = style("--paper");
    context.fillRect(0, 0, left - 4, top);
    if (this.labels.axes) this.axes(context);
  }

  /** What runs down and across. */
  axes(context) {
    const [down, across] = this.labels.axes;
    context.fillStyle = style("--soft");
    context.textAlign = "right";
    context.fillText(`${down} ↓`, this.left - 9, this.top - 10);
    context.textAlign = "left";
    context.fillText(this.leftward ? `← ${across}` : `${across} →`, this.left, this.axis / 2 + 2);
  }

  /** Weights beyond the mass that is shown stand back. */
  hideRest(context, x, y, first, last) {
    context.globalAlpha = 0.82;
    context.fillStyle = style("--paper");
    for (let row = first.row; row < last.row; row++) {
      for (let place = first.column; place < last.column; place++) {
        if (!this.kept[row][this.place(place)]) context.fillRect(x(place), y(row), this.cell, this.cell);
      }
    }
    context.globalAlpha = 1;
  }

  gaps(context, x, y, first, last) {
    context.fillStyle = style("--paper");
    for (let column = first.column; column < last.column; column++) context.fillRect(x(column + 1) - 1, y(first.row), 1, this.cell * (last.row - first.row));
    for (let row = first.row; row < last.row; row++) context.fillRect(x(first.column), y(row + 1) - 1, this.cell * (last.column - first.column), 1);
  }

  /** Weights in their cells. Zeros say nothing that their colour does not. */
  figures(context, x, y, first, last) {
    context.font = `10px ${style("--mono")}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let row = first.row; row < last.row; row++) {
      for (let place = first.column; place < last.column; place++) {
        const column = this.place(place);
        const [weight, even] = [this.weights[row][column], this.evens[row][column]];
        const text = this.kept[row][column] ? figure(weight, even) : "";
        if (!text) continue;
        context.fillStyle = ink("matrix", weight, even);
        context.fillText(text, x(place) + this.cell / 2, y(row) + this.cell / 2);
      }
    }
  }

  /** What is not pinned stands back. */
  veil(context, x, y, columns, rows) {
    const { pinnedRow, pinnedColumn } = this.selection;
    const { cell } = this;
    context.globalAlpha = 0.72;
    context.fillStyle = style("--paper");
    if (pinnedRow !== null) {
      context.fillRect(x(0), y(0), cell * columns, cell * pinnedRow);
      context.fillRect(x(0), y(pinnedRow + 1), cell * columns, cell * (rows - pinnedRow - 1));
    }
    if (pinnedColumn !== null) {
      const place = this.place(pinnedColumn);
      context.fillRect(x(0), y(0), cell * place, cell * rows);
      context.fillRect(x(place + 1), y(0), cell * (columns - place - 1), cell * rows);
    }
    context.globalAlpha = 1;
  }

  outline(context, x, y) {
    const { row, column } = this.selection;
    if (row === null) return;
    context.strokeStyle = style("--mark");
    context.lineWidth = 2;
    context.strokeRect(x(this.place(column)) - 0.5, y(row) - 0.5, this.cell, this.cell);
  }

  rowLabels(context, y, from, to) {
    const every = Math.ceil((this.font + 1) / this.cell);
    context.textAlign = "right";
    for (let row = from; row < to; row++) {
      const chosen = row === this.selection.row || row === this.selection.pinnedRow;
      if (row % every && !chosen) continue;
      context.fillStyle = style(chosen ? "--mark" : "--ink");
      context.fillText(this.labels.shortOutput[row], this.left - 9, y(row) + this.cell / 2);
    }
  }

  columnLabels(context, x, from, to) {
    const every = Math.ceil((this.font + 1) / this.cell);
    context.textAlign = this.turn ? "left" : "center";
    for (let place = from; place < to; place++) {
      const column = this.place(place);
      const chosen = column === this.selection.column || column === this.selection.pinnedColumn;
      if (column % every && !chosen) continue;
      context.fillStyle = style(chosen ? "--mark" : "--ink");
      context.save();
      context.translate(x(place) + this.cell / 2, this.top - (this.turn ? 7 : 10));
      context.rotate(-this.turn);
      context.fillText(this.labels.shortSource[column], 0, 0);
      context.restore();
    }
  }

  /** The probability of each output unit. */
  beside(context, x, y, from, to) {
    if (this.cell < 9) return;
    context.textAlign = "left";
    context.fillStyle = style("--soft");
    for (let row = from; row < to; row++) context.fillText(short(this.probabilities[row]), x, y(row) + this.cell / 2);
  }

  /** What the column of probabilities is. */
  caption(context, x) {
    context.textAlign = "left";
    context.fillStyle = style("--soft");
    if (this.turn) {
      // Slanted labels reach over the column; the paper under its heading is kept free.
      context.fillStyle = style("--paper");
      context.fillRect(x - 4, this.top - this.font - 6, this.font + 8, this.font + 5);
    }
    context.fillStyle = style("--soft");
    context.fillText("p", x, this.top - 10);
  }

  /** The cell, label or nothing under the pointer. */
  at(event) {
    const box = this.element.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const index = (pixel, count) => (pixel >= 0 && pixel < this.cell * count ? Math.floor(pixel / this.cell) : null);
    const place = px < this.left ? null : index(px - this.left + this.element.scrollLeft, this.labels.source.length);
    const column = place === null ? null : this.place(place);
    const row = py < this.top ? null : index(py - this.top + this.element.scrollTop, this.labels.output.length);
    return { row, column, header: py < this.top, gutter: px < this.left };
  }

  hover(event) {
    const { row, column, header, gutter } = this.at(event);
    if (row !== null && column !== null) {
      this.select(row, column);
      tip.show(this.describe(row, column), event);
    } else if (header && column !== null) {
      tip.show(this.labels.source[column], event);
    } else if (gutter && row !== null) {
      tip.show(this.labels.output[row], event);
    } else {
      tip.hide();
    }
  }

  click(event) {
    const { row, column, header, gutter } = this.at(event);
    // A finger cannot hover: its first tap asks for the value, the next one on the same cell pins.
    if (event.pointerType === "touch" && row !== null && column !== null && !gutter) {
      const again = row === this.selection.row && column === this.selection.column && this.tapped;
      this.hover(event);
      this.tapped = !again;
      if (!again) return;
    }
    if (column !== null && (header || event.shiftKey)) this.pin(null, column);
    else if (row !== null) this.pin(row, null);
  }

  key(event) {
    const { row, column } = this.selection;
    const [rows, columns] = [this.labels.output.length, this.labels.source.length];
    if (!rows || !columns) return;
    const onward = this.leftward ? -1 : 1;
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -onward], ArrowRight: [0, onward], PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -columns], End: [0, columns] };
    if (event.key in moves) {
      const [down, across] = row === null ? [0, 0] : moves[event.key];
      this.select(clamp((row ?? 0) + down, 0, rows - 1), clamp((column ?? 0) + across, 0, columns - 1));
      this.reveal();
    } else if (event.key === "Enter" && row !== null) {
      event.shiftKey ? this.pin(null, column) : this.pin(row, null);
    } else if (event.key === "Escape") {
      this.selection = { row: null, column: null, pinnedRow: null, pinnedColumn: null };
      tip.hide();
      this.draw();
      this.changed(true);
    } else {
      return;
    }
    event.preventDefault();
  }

  select(row, column) {
    if (row === this.selection.row && column === this.selection.column) return;
    this.tapped = false;
    Object.assign(this.selection, { row, column });
    this.draw();
    this.changed(false);
  }

  /** Pins a row or a column; the same again lets it go. */
  pin(row, column) {
    const { pinnedRow, pinnedColumn } = this.selection;
    const same = row === pinnedRow && column === pinnedColumn;
    Object.assign(this.selection, { pinnedRow: same ? null : row, pinnedColumn: same ? null : column });
    this.draw();
    this.changed(true);
  }

  /** Scrolls the chosen cell into sight. */
  reveal() {
    const { element, cell, left, top } = this;
    const { row, column } = this.selection;
    const [x, y] = [cell * this.place(column), cell * row];
    element.scrollLeft = clamp(element.scrollLeft, x + cell + left - element.clientWidth, x);
    element.scrollTop = clamp(element.scrollTop, y + cell + top - element.clientHeight, y);
  }

  resize(cell) {
    this.cell = cell;
    this.layout();
  }

  describe(row, column) {
    const [weight, even] = [this.weights[row][column], this.evens[row][column]];
    return `${this.labels.output[row]} ← ${this.labels.source[column]}: ${weight} (${longTimes(times(weight, even))})`;
  }

  /** What the selection says, in words. */
  readout() {
    const { row, column, pinnedRow, pinnedColumn } = this.selection;
    const strongest = (weights, names) => {
      const order = weights.map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]).slice(0, 5);
      return order.map(([weight, i]) => `${names[i]} ${weight}`).join(", ");
    };
    const parts = [];
    if (row !== null) parts.push(this.describe(row, column));
    if (pinnedRow !== null) parts.push(`row ${pinnedRow + 1} pinned, ${this.labels.output[pinnedRow]} ← ${strongest(this.weights[pinnedRow], this.labels.source)}`);
    if (pinnedColumn !== null) parts.push(`column ${pinnedColumn + 1} pinned, ${this.labels.source[pinnedColumn]} → ${strongest(this.weights.map((row) => row[pinnedColumn]), this.labels.output)}`);
    return parts.join(" · ");
  }
}
