// This view as a file. What is saved is what is shown.

import { s } from './dom.js';
import { state } from './state.js';

function give(name, kind, content) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// An element of a drawing in the colours it has now, which a file must not look up.
function inColours(svg) {
  const copy = svg.cloneNode(true), [now, then] = [svg.querySelectorAll('*'), copy.querySelectorAll('*')];
  now.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of ['fill', 'stroke', 'font-size', 'font-weight', 'opacity']) then[i].setAttribute(name, style.getPropertyValue(name));
    if (element.tagName === 'text') then[i].setAttribute('font-family', 'monospace');
    ['class', 'style', 'tabindex', 'role'].forEach(name => then[i].removeAttribute(name));
  });
  return copy;
}

// A text as it is broken into lines: each with its place.
function linesOf(node) {
  const range = document.createRange(), lines = [];
  for (const word of node.textContent.matchAll(/\S+\s*/g)) {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const box = range.getBoundingClientRect(), last = lines.at(-1);
    if (!box.width) continue;
    if (last && Math.abs(last.box.top - box.top) < 2) last.text += word[0];
    else lines.push({ text: word[0], box });
  }
  return lines;
}

const seenThrough = colour => colour === 'transparent' || colour.endsWith(', 0)');

// The view as it stands on the screen: what is drawn as it is drawn, texts where they stand, and the colours under them. What acts is left out.
function drawing() {
  const view = document.querySelector('#view'), from = view.getBoundingClientRect(), down = 36 - from.top;
  if (!view.childNodes.length) return null;
  const body = getComputedStyle(document.body), parts = [];
  let width = 0, height = 0;
  const grow = (right, bottom) => { width = Math.max(width, right); height = Math.max(height, bottom); };
  const rect = (box, fill, stroke) => parts.push(s('rect', { x: box.left - from.left, y: box.top + down, width: box.width, height: box.height, rx: 3, fill, stroke }));
  const write = (text, x, y, style) => parts.push(s('text', { x, y, fill: style.color, 'font-family': style.fontFamily, 'font-size': style.fontSize, 'font-weight': style.fontWeight, 'text-decoration': style.textDecorationLine, style: 'white-space:pre' }, text));
  const walk = element => {
    const style = getComputedStyle(element), box = element.getBoundingClientRect();
    if (style.display === 'none' || style.visibility === 'hidden') return;
    if (element.matches('input[type=range]')) {
      // As high as its weight.
      const full = { left: box.left + box.width / 2 - 3, top: box.top, width: 6, height: box.height }, high = box.height * Number(element.value);
      rect(full, body.getPropertyValue('--rule'), 'none');
      return rect({ ...full, top: box.bottom - high, height: high }, body.getPropertyValue('--accent'), 'none');
    }
    if (element.matches('input, select, textarea')) return;
    if (element.tagName === 'svg') {
      const copy = inColours(element);
      copy.setAttribute('x', box.left - from.left);
      copy.setAttribute('y', box.top + down);
      parts.push(copy);
      return grow(box.right - from.left, box.bottom + down);
    }
    const ground = seenThrough(style.backgroundColor) ? 'none' : style.backgroundColor, edge = parseFloat(style.borderLeftWidth) > 0 ? style.borderLeftColor : 'none';
    if (box.width && box.height && (ground !== 'none' || edge !== 'none')) rect(box, ground, edge);
    grow(Math.min(box.right - from.left, from.width), box.bottom + down);
    for (const child of element.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) linesOf(child).forEach(line => write(line.text.trimEnd(), line.box.left - from.left, line.box.top + down + line.box.height * 0.78, style));
      else if (child.nodeType === Node.ELEMENT_NODE) walk(child);
    }
  };
  walk(view);
  write(`${state.model}: ${state.text.replace(/\s+/g, ' ')}`, 0, 18, { color: body.color, fontFamily: 'monospace', fontSize: '15px', fontWeight: 'bold', textDecorationLine: 'none' });
  [width, height] = [Math.ceil(width) + 24, Math.ceil(height) + 12];
  const root = s('svg', { width, height, viewBox: `-12 0 ${width} ${height}` }, s('rect', { x: -12, width, height, fill: body.backgroundColor }), parts);
  return { text: new XMLSerializer().serializeToString(root), width, height };
}

export function svg() {
  const drawn = drawing();
  if (drawn) give('spotlight.svg', 'image/svg+xml', drawn.text);
  return Boolean(drawn);
}

export async function png() {
  const drawn = drawing();
  if (!drawn) return false;
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([drawn.text], { type: 'image/svg+xml' }));
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [drawn.width * 2, drawn.height * 2];
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  give('spotlight.png', 'image/png', await new Promise(done => canvas.toBlob(done)));
  return true;
}

export const json = data => give('spotlight.json', 'application/json', JSON.stringify({ state, address: location.hash, answers: data }, null, 1));

// The view without what acts: a page that needs nothing.
export async function page() {
  const style = await (await fetch('/page/style.css')).text();
  const copy = document.querySelector('#view').cloneNode(true);
  copy.querySelectorAll('button').forEach(button => { const span = document.createElement('span'); span.className = button.className; span.style.cssText = button.style.cssText + ';padding:1px 4px;display:inline-block'; span.append(...button.childNodes); button.replaceWith(span); });
  copy.querySelectorAll('input, select, textarea').forEach(element => element.remove());
  const title = document.createElement('p');
  title.className = 'answer';
  title.textContent = `${state.model}: ${state.text}`;
  // Written as text: what is made as elements would have to obey this page's policy.
  give('spotlight.html', 'text/html', `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Spotlight</title><style>${style}</style><body>${title.outerHTML}${copy.outerHTML}</body></html>\n`);
}
