// Shaded texts and bags: lists whose items carry weights.

/** The probability of every label as a bar. */
function decision(probabilities, names) {
  const rows = probabilities.flatMap(([, probability], i) => {
    const bar = make("i");
    bar.style.width = 100 * clamp(probability, 0, 1) + "%";
    return [make("span", { class: "name" }, names[i]), make("span", { class: "track" }, bar), make("span", { class: "number" }, String(probability))];
  });
  return make("div", { class: "decision" }, ...rows);
}

/** A text shaded by the mean of its heads; strips for each head if there are several. `evens`: what an even spread would give. */
function textView({ tokens, shown, heads, mean, evens, leftward }) {
  const section = make("div");
  if (!tokens.length) {
    section.append(make("p", { class: "sub" }, "(empty text)"));
    return section;
  }
  const named = namedHeads(heads, mean);
  const readout = make("p", { class: "readout", role: "status", "aria-live": "polite" });
  const words = (i) => `${tokens[i]}: ` + named.map(({ name, weights }) => `${name ? `${name} ` : ""}${weights[i]} (${longTimes(times(weights[i], evens[i]))})`).join(", ");
  const number = figures(mean);
  const items = shown.map((label, i) => {
    const word = make("b", { dir: "auto" }, label);
    if (named.length) paint(word, named[0].weights[i], evens[i]);
    const strips = named.slice(named.length > 1 ? 1 : 0).map(({ weights }) => {
      const strip = make("small", named.length > 1 ? { class: "strip" } : {}, number(weights[i], evens[i]));
      if (named.length > 1) paint(strip, weights[i], evens[i]);
      return strip;
    });
    return make("button", { class: "token", "data-tip": words(i), "aria-label": words(i) }, word, ...strips);
  });
  rove(items, { show: (i) => (readout.textContent = words(i)), pin: (i) => (readout.textContent = "pinned, " + words(i)), clear: () => (readout.textContent = "") });
  const threshold = () => {
    const mask = kept(mean);
    items.forEach((item, i) => item.classList.toggle("beyond", mean.length > 0 && !mask[i]));
  };
  threshold();
  const table = numbers(() => ({ corner: "token", columns: named.map(({ name }) => name || "weight"), rows: tokens, values: tokens.map((_, i) => named.map(({ weights }) => weights[i])) }));
  section.append(make("div", { class: "text", dir: leftward ? "rtl" : "ltr" }, ...items));
  const even = evenness(heads, heads.map(() => evens));
  if (even) section.append(make("p", { class: "sub evenness" }, even));
  section.rethreshold = threshold;
  if (named.length > 1) {
    const names = named.slice(1).map(({ name }) => name).join(", ");
    section.append(make("p", { class: "hint" }, `words show the mean; strips, from the top: ${names}`));
  }
  section.append(readout, table);
  return section;
}

/** A bar or an image for each row of a bag, sorted on demand. */
function bagView(bag, rows, evens) {
  const section = make("div");
  if (!rows.length) {
    section.append(make("p", { class: "sub" }, "(empty bag)"));
    return section;
  }
  const readout = make("p", { class: "readout", role: "status", "aria-live": "polite" });
  const words = (i) => `${rows[i]}: ${bag.weights[i]} (${longTimes(times(bag.weights[i], evens[i]))})`;
  const number = figures(bag.weights);
  // In times uniform the bars end at the heaviest row.
  const end = scaleOf("text").diverging ? Math.max(...bag.weights) : scaleOf("text").text;
  const list = make("div", { class: bag.images ? "bag tiles" : "bag" });
  const images = bag.images ? greys(bag.images) : [];
  const fill = (order) => {
    const items = order.map((i) => {
      const bar = make("i");
      [bar.style.width, bar.style.background] = [100 * clamp(bag.weights[i] / end, 0, 1) + "%", colour("text", bag.weights[i], evens[i])];
      const row = make("button", { class: "bag-row", "data-tip": words(i), "aria-label": words(i) }, make("span", {}, rows[i]), make("span", { class: "track" }, bar), make("span", {}, bag.images ? number(bag.weights[i], evens[i]) : bag.weights[i].toFixed(4)), make("span", { class: "times" }, longTimes(times(bag.weights[i], evens[i]))));
      if (images[i]) {
        images[i].style.borderColor = colour("text", bag.weights[i], evens[i]);
        row.prepend(images[i]);
      }
      return row;
    });
    rove(items, { show: (at) => (readout.textContent = words(order[at])), pin: (at) => (readout.textContent = "pinned, " + words(order[at])), clear: () => (readout.textContent = "") });
    const headings = ["row", "", "weight", "times"].map((text) => make("span", {}, text));
    list.replaceChildren(...(bag.images ? [] : [make("div", { class: "bag-head", "aria-hidden": "true" }, ...headings)]), ...items);
  };
  const given = rows.map((_, i) => i);
  const sorted = [...given].sort((a, b) => bag.weights[b] - bag.weights[a]);
  const sort = make("input", { type: "checkbox", class: "sort", onchange: () => fill(sort.checked ? sorted : given) });
  fill(given);
  const table = numbers(() => ({ corner: "row", columns: ["weight", "times uniform"], rows, values: bag.weights.map((weight, i) => [weight, times(weight, evens[i])]) }));
  section.append(make("div", { class: "tools" }, make("label", {}, sort, "heaviest first")), list, make("p", { class: "sub evenness" }, evenness([bag.weights], [evens])), readout, table);
  return section;
}

/** An element in the colour of a weight. */
function paint(element, weight, even) {
  [element.style.background, element.style.color] = [colour("text", weight, even), ink("text", weight, even)];
}

/** Grey images, black and white set by the darkest and brightest pixel of the bag. */
function greys({ width, pixels }) {
  const [low, high] = pixels.flat().reduce(([low, high], pixel) => [Math.min(low, pixel), Math.max(high, pixel)], [Infinity, -Infinity]);
  const level = (pixel) => Math.round((255 * (pixel - low)) / (high - low || 1));
  return pixels.map((image) => {
    const rows = [];
    for (let at = 0; at < image.length; at += width) rows.push(image.slice(at, at + width));
    return bitmap(rows, (pixel) => [level(pixel), level(pixel), level(pixel), 255]);
  });
}
