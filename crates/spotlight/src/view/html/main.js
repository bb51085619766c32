// The page: one example at a time, chosen from the list.

function pictureView(index) {
  const [picture, shown] = [page.pictures[index], page.shown[index]];
  const section = make("section", { "aria-label": shown.title });
  section.append(make("h2", { dir: "auto" }, shown.title));
  if (shown.subtitle) section.append(make("p", { class: "sub" }, shown.subtitle));
  if (picture.probabilities && shown.names.length) section.append(decision(picture.probabilities, shown.names));
  if (picture.kind === "matrix") {
    section.append(matrixView(shown, namedHeads(picture.heads, shown.mean), picture.probabilities));
  } else if (picture.kind === "shaded") {
    section.append(textView(shown.source, shown.shortSource, picture.heads, shown.sourceMean));
  } else if (picture.kind === "match") {
    section.append(make("h3", {}, "question"), textView(shown.output, shown.shortOutput, picture.question.heads, shown.outputMean));
    section.append(make("h3", {}, "answer"), textView(shown.source, shown.shortSource, picture.answer.heads, shown.sourceMean));
    if (picture.cross) section.append(make("h3", {}, "question down, answer across"), matrixView(shown, [{ name: "", weights: picture.cross }], null));
  } else if (picture.kind === "stack") {
    section.append(stackView(picture, shown));
  } else {
    section.append(bagView(picture, shown.output));
  }
  section.append(downloads(index));
  return section;
}

function show(index) {
  document.getElementById("main").replaceChildren(page.pictures.length ? pictureView(index) : make("p", { class: "sub" }, "no pictures"));
  document.getElementById("example").value = String(index);
  tip.hide();
}

const choice = document.getElementById("example");
choice.append(...page.shown.map(({ name }, i) => make("option", { value: i }, `${i + 1}. ${name}`)));
choice.addEventListener("change", () => show(Number(choice.value)));
const move = (by) => () => show(clamp(Number(choice.value) + by, 0, page.pictures.length - 1));
document.getElementById("previous").addEventListener("click", move(-1));
document.getElementById("next").addEventListener("click", move(1));
document.querySelector("nav").hidden = page.pictures.length < 2;
document.querySelector(".legend").insertBefore(heat([page.colours.map((_, i) => (page.top * i) / 100)]), document.getElementById("top"));
// Canvases are painted in the colours of the page; paint them again when those change.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(Number(choice.value)));
show(0);
