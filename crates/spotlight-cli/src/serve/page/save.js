// This view as a file. What is saved is what is shown.

import { state } from './state.js';

function give(name, kind, content) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The drawings of the view one under the other, with the colours they have now written into them.
function drawing() {
  const drawings = [...document.querySelectorAll('#view svg')];
  if (!drawings.length) return null;
  const root = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  let width = 0, y = 0;
  const paper = getComputedStyle(document.body);
  for (const svg of drawings) {
    const copy = svg.cloneNode(true);
    const [now, then] = [svg.querySelectorAll('*'), copy.querySelectorAll('*')];
    now.forEach((element, i) => {
      const style = getComputedStyle(element);
      for (const name of ['fill', 'stroke', 'font-size', 'font-weight', 'opacity']) then[i].setAttribute(name, style.getPropertyValue(name));
      if (element.tagName === 'text') then[i].setAttribute('font-family', 'monospace');
      ['class', 'style', 'tabindex', 'role'].forEach(name => then[i].removeAttribute(name));
    });
    copy.setAttribute('y', y);
    root.append(copy);
    width = Math.max(width, svg.width.baseVal.value);
    y += svg.height.baseVal.value + 16;
  }
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of [['width', width], ['height', y], ['fill', paper.backgroundColor]]) ground.setAttribute(name, value);
  root.prepend(ground);
  for (const [name, value] of [['width', width], ['height', y], ['viewBox', `0 0 ${width} ${y}`]]) root.setAttribute(name, value);
  return { text: new XMLSerializer().serializeToString(root), width, height: y };
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
