// The numbers themselves: a table to read and copy, built when it is opened, and files to keep.

/** More cells at once would make the page slow; the rest is a button away. */
const MOST_CELLS = 10000;

/** A folded table. `content()` gives `{ corner, columns, rows, values }`, values row by row. */
function numbers(content) {
  const body = make("div");
  const details = make("details", { class: "numbers" }, make("summary", {}, "Numbers"), body);
  const build = (from = 0) => {
    const { corner, columns, rows, values } = content();
    const count = Math.max(1, Math.floor(MOST_CELLS / Math.max(1, columns.length)));
    const end = Math.min(rows.length, from + count);
    const head = make("tr", {}, make("th", { scope: "col" }, corner), ...columns.map((label) => make("th", { scope: "col" }, label)));
    const table = make("table", {}, make("thead", {}, head), make("tbody"));
    for (let row = from; row < end; row++) {
      const cells = values[row].map((value) => make("td", {}, String(value)));
      table.tBodies[0].append(make("tr", {}, make("th", { scope: "row" }, rows[row]), ...cells));
    }
    const tools = make("div", { class: "tools" }, make("button", { class: "copy", onclick: () => copy(content()) }, "Copy all as TSV"));
    if (count < rows.length) {
      tools.append(
        make("button", { onclick: () => build(Math.max(0, from - count)) }, "Previous rows"),
        make("button", { onclick: () => build(end < rows.length ? end : from) }, "Next rows"),
        make("label", {}, `rows ${from + 1} to ${end} of ${rows.length}`),
      );
    }
    body.replaceChildren(tools, make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Numbers" }, table));
  };
  details.addEventListener("toggle", () => (details.open ? build() : body.replaceChildren()));
  details.refresh = () => details.open && build();
  return details;
}

function copy({ corner, columns, rows, values }) {
  const plain = (label) => label.replace(/\s/g, " ");
  const lines = [[corner, ...columns.map(plain)], ...rows.map((label, i) => [plain(label), ...values[i].map(String)])];
  const text = lines.map((line) => line.join("\t")).join("\n") + "\n";
  const select = () => {
    const area = make("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  navigator.clipboard ? navigator.clipboard.writeText(text).catch(select) : select();
}

function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** The same drawing and the same numbers as files, and the view as it stands. */
function downloads(index, picture) {
  const name = `spotlight-${index + 1}`;
  const svg = () => JSON.parse(document.getElementById(`svg-${index}`).textContent);
  const json = () => JSON.stringify({ ...picture, note: page.caveat }) + "\n";
  return make(
    "div",
    { class: "tools" },
    make("button", { class: "save-svg", onclick: () => download(`${name}.svg`, "image/svg+xml", svg()) }, "Download SVG"),
    make("button", { class: "save-view", onclick: () => download(`${name}-view.svg`, "image/svg+xml", snapshot(document.getElementById("main"))) }, "SVG of this view"),
    make("button", { class: "save-json", onclick: () => download(`${name}.json`, "application/json", json()) }, "Download JSON"),
  );
}
