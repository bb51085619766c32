// The view as it stands as one SVG: what is pinned, hidden or switched stays so. Texts stay text.

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** A canvas of a pixel a value as paths, one for each colour: neighbours of one colour are one stroke. */
function pixels(canvas, { x, y, width, height }) {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const runs = new Map();
  for (let row = 0; row < canvas.height; row++) {
    for (let from = 0, to = 1; from < canvas.width; from = to++) {
      const colour = (at) => `#${[0, 1, 2].map((i) => data[4 * (row * canvas.width + at) + i].toString(16).padStart(2, "0")).join("")}`;
      while (to < canvas.width && colour(to) === colour(from)) to++;
      runs.set(colour(from), (runs.get(colour(from)) ?? "") + `M${from} ${row}.5h${to - from}`);
    }
  }
  const transform = `translate(${x} ${y}) scale(${width / canvas.width} ${height / canvas.height})`;
  return [...runs].map(([stroke, d]) => shape("path", { stroke, d, transform, fill: "none", "shape-rendering": "crispEdges" }));
}

/** Takes notes of what is painted on a canvas, as shapes. */
class Notes {
  constructor() {
    this.group = shape("g", {});
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: "12px monospace", textAlign: "left", textBaseline: "middle", globalAlpha: 1, at: [0, 0, 0], saved: [] });
  }
  add(tag, attributes, text) {
    const [x, y, turn] = this.at;
    if (x || y || turn) attributes.transform = `translate(${x} ${y}) rotate(${(turn * 180) / Math.PI})`;
    if (this.globalAlpha < 1) attributes.opacity = this.globalAlpha;
    this.group.append(shape(tag, attributes, text));
  }
  fillRect(x, y, width, height) {
    this.add("rect", { x, y, width, height, fill: this.fillStyle });
  }
  strokeRect(x, y, width, height) {
    this.add("rect", { x, y, width, height, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth });
  }
  fillText(text, x, y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const size = parseFloat(this.font);
    this.add("text", { x, y: y + 0.35 * size, "font-size": size, "font-family": this.font.replace(/^\S+ /, ""), "text-anchor": anchor, fill: this.fillStyle }, text);
  }
  drawImage(canvas, x, y, width, height) {
    pixels(canvas, { x, y, width, height }).forEach((path) => this.group.append(path));
  }
  translate(x, y) {
    this.at = [x, y, 0];
  }
  rotate(turn) {
    this.at[2] = turn;
  }
  save() {
    this.saved.push(this.at);
  }
  restore() {
    this.at = this.saved.pop();
  }
}

/** The words of a text node, line by line as the page breaks them. */
function lines(node) {
  const found = [];
  const range = document.createRange();
  for (const { index, 0: word } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getBoundingClientRect();
    const last = found[found.length - 1];
    if (last && Math.abs(last.box.top - box.top) < 2) last.text = node.data.slice(last.from, index + word.length);
    else found.push({ text: word, from: index, box });
  }
  return found;
}

/** Everything in sight under an element, from its own corner. */
function snapshot(root) {
  const frame = root.getBoundingClientRect();
  const place = (box) => ({ x: box.left - frame.left + 16, y: box.top - frame.top + 16, width: box.width, height: box.height });
  const drawing = shape("g", {});
  const skipped = "details, .minimap, button.copy, .hint:not(.merged), .readout, input, .save-svg, .save-json, .save-view, .tools";
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const css = getComputedStyle(node.parentElement);
      const size = parseFloat(css.fontSize);
      for (const { text, box } of lines(node)) {
        const { x, y, height } = place(box);
        drawing.append(shape("text", { x, y: y + height / 2 + 0.35 * size, "font-size": size, "font-family": css.fontFamily, fill: css.color, direction: css.direction === "rtl" ? "ltr" : css.direction }, text));
      }
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || node.hidden || (node.matches(skipped) && !node.matches(".heads"))) return;
    const css = getComputedStyle(node);
    const box = place(node.getBoundingClientRect());
    if (node.matches(".matrix")) {
      const matrix = current.views.map((view) => view.matrix).find((matrix) => matrix?.element === node);
      const notes = new Notes();
      matrix.paint(notes, matrix.width, matrix.height, 0, 0);
      notes.group.setAttribute("transform", `translate(${box.x} ${box.y})`);
      drawing.append(notes.group);
    } else if (node.tagName === "svg") {
      const copy = node.cloneNode(true);
      [...copy.querySelectorAll("path, text")].forEach((part, i) => {
        const style = getComputedStyle(node.querySelectorAll("path, text")[i]);
        for (const name of ["fill", "stroke", "font-family", "font-size"]) part.style.setProperty(name, style.getPropertyValue(name));
      });
      for (const [name, value] of Object.entries(box)) copy.setAttribute(name, value);
      drawing.append(copy);
    } else if (node.tagName === "CANVAS") {
      drawing.append(...pixels(node, box));
    } else {
      const faded = css.opacity < 1 ? { opacity: css.opacity } : {};
      if (!/^(transparent|rgba\(.*, 0\))$/.test(css.backgroundColor)) drawing.append(shape("rect", { ...box, rx: parseFloat(css.borderRadius) || 0, fill: css.backgroundColor, ...faded }));
      for (const child of node.childNodes) walk(child);
    }
  };
  for (const legend of document.querySelectorAll(".legend")) walk(legend);
  walk(root);
  const bounds = [...current.views].reduce((most, { matrix }) => (matrix ? [Math.max(most[0], matrix.width + 32), most[1]] : most), [frame.width + 32, frame.height + 32]);
  const above = Math.max(0, ...[...document.querySelectorAll(".legend")].map((legend) => frame.top - legend.getBoundingClientRect().top));
  const [width, height] = [Math.ceil(bounds[0]), Math.ceil(bounds[1] + above)];
  const file = shape("svg", { xmlns: SVG, width, height, viewBox: `0 ${-Math.ceil(above)} ${width} ${height}` });
  file.append(shape("title", {}, "Spotlight: where a model looks"), shape("desc", {}, page.caveat), shape("rect", { x: 0, y: -Math.ceil(above), width, height, fill: style("--paper") }), drawing);
  return new XMLSerializer().serializeToString(file);
}
