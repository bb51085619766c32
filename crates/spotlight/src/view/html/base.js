// What every view needs: the data, elements made without markup, the tooltip.
"use strict";

const page = JSON.parse(document.getElementById("data").textContent);

/** Makes an element. Text is always set as text, so a label can never become markup. */
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "text", "title", "g"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "hidden" || name === "checked") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** The only head without a name, or the mean and then every head. */
function namedHeads(heads, mean) {
  if (heads.length < 2) return heads.map((weights) => ({ name: "", weights }));
  return [{ name: "mean", weights: mean }, ...heads.map((weights, i) => ({ name: `head ${i + 1}`, weights }))];
}

const tip = {
  element: document.getElementById("tip"),
  /** Beside the pointer; above a finger, which would cover it. */
  show(text, event) {
    const { clientX: x, clientY: y } = event;
    this.element.textContent = text;
    this.element.hidden = false;
    const box = this.element.getBoundingClientRect();
    const finger = event.pointerType === "touch";
    const [left, top] = finger ? [x - box.width / 2, y - box.height - 28] : [x + 14, y + 16];
    this.element.style.left = clamp(left, 4, Math.max(4, innerWidth - box.width - 4)) + "px";
    this.element.style.top = clamp(finger && top < 4 ? y + 32 : top, 4, Math.max(4, innerHeight - box.height - 4)) + "px";
  },
  /** A pointer that leaves takes its tooltip along; what a finger asked for stays until it asks for something else. */
  leave(event) {
    if (event.pointerType !== "touch") this.hide();
  },
  hide() {
    this.element.hidden = true;
  },
};

/** Fits a canvas to a size on the page at the resolution of the screen, and returns its context. */
function fit(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** A canvas with one pixel per number. */
function bitmap(rows, paint) {
  const [height, width] = [rows.length, rows.length ? rows[0].length : 0];
  const canvas = make("canvas", { width: Math.max(1, width), height: Math.max(1, height) });
  const image = canvas.getContext("2d").createImageData(Math.max(1, width), Math.max(1, height));
  rows.forEach((row, y) => row.forEach((value, x) => image.data.set(paint(value), 4 * (y * width + x))));
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** Keyboard and pointer over a list of elements: arrows move, Enter or a click pins, Escape clears. */
function rove(items, { show, pin, clear }) {
  let at = 0;
  let pinned = null;
  const choose = (index, event) => {
    at = index;
    items.forEach((item, i) => (item.tabIndex = i === at ? 0 : -1));
    if (pinned === null) show(index);
    if (event) tip.show(items[index].dataset.tip, event);
  };
  const toggle = (index) => {
    pinned = pinned === index ? null : index;
    items.forEach((item, i) => {
      item.classList.toggle("on", i === pinned);
      item.setAttribute("aria-pressed", String(i === pinned));
    });
    pinned === null ? clear() : pin(index);
  };
  items.forEach((item, index) => {
    item.tabIndex = index === 0 ? 0 : -1;
    item.setAttribute("aria-pressed", "false");
    item.addEventListener("pointermove", (event) => choose(index, event));
    item.addEventListener("pointerdown", (event) => event.pointerType === "touch" && choose(index, event));
    item.addEventListener("pointerleave", (event) => tip.leave(event));
    item.addEventListener("focus", () => choose(index));
    item.addEventListener("click", () => toggle(index));
    item.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: items.length - 1 };
      if (event.key in moves) {
        event.preventDefault();
        items[clamp(moves[event.key], 0, items.length - 1)].focus();
      } else if (event.key === "Escape") {
        if (pinned !== null) toggle(pinned);
        tip.hide();
        clear();
      }
    });
  });
}
