// The page: one example at a time, chosen from the list.

/** A matrix with the end of the answer as its last row. */
function withEnd(picture) {
  const { heads, probabilities, end } = picture;
  if (!end) return { heads, probabilities };
  return {
    heads: heads.map((head, i) => [...head, end.heads[i]]),
    probabilities: probabilities && [...probabilities, end.probability ?? 0],
  };
}

function pictureView(index) {
  const other = page.others[index] ?? null;
  const [picture, shown] = view.words && other ? [other, page.others_shown[index]] : [page.pictures[index], page.shown[index]];
  const section = make("section", { "aria-label": shown.title });
  section.append(make("h2", { dir: "auto" }, shown.title));
  for (const line of [shown.subtitle, shown.truth]) if (line) section.append(make("p", { class: "sub" }, line));
  if (picture.probabilities && shown.names.length) section.append(decision(picture.probabilities, shown.names));
  const source = (heads) => ({ tokens: shown.source, shown: shown.shortSource, heads, mean: shown.sourceMean, evens: shown.sourceEven, leftward: shown.sourceLeftward });
  const output = (heads) => ({ tokens: shown.output, shown: shown.shortOutput, heads, mean: shown.outputMean, evens: shown.outputEven, leftward: shown.outputLeftward });
  const evens = (rows) => rows.map((row) => shown.sourceEven.map((even) => even * row));
  const views = [];
  const add = (...parts) => (section.append(...parts), views.push(...parts.filter((part) => part.arrive || part.rethreshold)));
  if (picture.kind === "matrix") {
    const { heads, probabilities } = withEnd(picture);
    add(matrixView(shown, namedHeads(heads, shown.mean), evens(shown.output.map(() => 1)), probabilities));
  } else if (picture.kind === "shaded") {
    add(textView(source(picture.heads)));
  } else if (picture.kind === "match") {
    add(make("h3", {}, "question"), textView(output(picture.question.heads)));
    add(make("h3", {}, "answer"), textView(source(picture.answer.heads)));
    const rows = shown.byRow ? shown.output.map(() => 1) : shown.outputEven;
    if (picture.cross) add(make("h3", {}, "what each word of the question looks at in the answer"), matrixView(shown, [{ name: "", weights: picture.cross }], evens(rows), null));
  } else if (picture.kind === "stack") {
    add(stackView(picture, shown));
  } else {
    add(bagView(picture, shown.output, shown.outputEven));
  }
  section.append(make("p", { class: "hint merged" }, mergedNote(picture)), downloads(index, picture));
  return { section, views, picture, other };
}

let current = null;

/** Draws an example. The switches stand above it, and are left alone while one of them is being moved. */
function show(index, keep = false) {
  tip.hide();
  const main = document.getElementById("main");
  const bar = document.getElementById("switches");
  if (!page.pictures.length) return main.replaceChildren(make("p", { class: "sub" }, "no pictures"));
  document.getElementById("example").value = String(index);
  current = pictureView(index);
  main.replaceChildren(current.section);
  for (const { arrive } of current.views) arrive?.();
  const merged = (page.others[index] ?? null) !== null && (page.startsMerged[index] !== view.words);
  const changed = (change, light = false) => {
    change();
    if (!light) return show(Number(choice.value));
    for (const { rethreshold } of current.views) rethreshold?.();
  };
  if (!keep) bar.replaceChildren(...switches(current.picture, merged, current.other, changed));
}

const severalPieces = (picture) => [picture.pieces, picture.question?.pieces, picture.answer?.pieces].some((pieces) => (pieces ?? []).some((count) => count > 1));
page.startsMerged = page.pictures.map(severalPieces);
const choice = document.getElementById("example");
choice.append(...page.shown.map(({ name }, i) => make("option", { value: i }, `${i + 1}. ${name}`)));
choice.addEventListener("change", () => show(Number(choice.value)));
const move = (by) => () => show(clamp(Number(choice.value) + by, 0, page.pictures.length - 1));
document.getElementById("previous").addEventListener("click", move(-1));
document.getElementById("next").addEventListener("click", move(1));
document.querySelector("nav").hidden = page.pictures.length < 2;
// Canvases are painted in the colours of the page; paint them again when those change.
darkPaper.addEventListener("change", () => show(Number(choice.value)));
addEventListener("pointerdown", (event) => event.pointerType === "touch" && !event.target.closest(".matrix, .token, .bag-row, .lines") && tip.hide());
show(0);
