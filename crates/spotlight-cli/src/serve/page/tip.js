// A value beside the pointer or the finger, and a weight that is dragged.

import { h } from './dom.js';

let shown = null, later = 0, moving = false;

// Whether the click that comes now is the end of a drag.
export const dragged = () => moving;

// Shows a text beside the pointer; a finger hides what is under it, so it stands above, and stays a while.
export function tip(event, text) {
  if (!shown) document.body.append(shown = h('div', { class: 'tip', role: 'status' }));
  clearTimeout(later);
  shown.textContent = text;
  shown.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = shown, above = event.pointerType === 'touch' ? 36 : 10;
  shown.style.left = `${Math.max(4, Math.min(event.clientX + 8, innerWidth - width - 4))}px`;
  shown.style.top = `${event.clientY - height - above < 4 ? event.clientY + 16 : event.clientY - height - above}px`;
  if (event.pointerType === 'touch') later = setTimeout(untip, 4000);
}

export function untip() {
  if (shown) shown.hidden = true;
}

// A weight follows the pointer up and down, a hundred pixels from 0 to 1. What was pressed may be drawn anew meanwhile.
export function drag(event, weight, name, move) {
  const from = event.clientY;
  let last = weight;
  moving = false;
  const follow = next => {
    moving ||= Math.abs(next.clientY - from) > 4;
    if (!moving) return;
    next.preventDefault();
    const now = Math.round(100 * Math.min(1, Math.max(0, weight + (from - next.clientY) / 100))) / 100;
    tip(next, `${name}: ${now.toFixed(2)}`);
    if (now !== last) move(last = now);
  };
  const end = () => {
    for (const [kind, listener] of [['pointermove', follow], ['pointerup', end], ['pointercancel', end]]) document.removeEventListener(kind, listener);
    untip();
    // The click comes after the pointer is up.
    setTimeout(() => { moving = false; });
  };
  for (const [kind, listener] of [['pointermove', follow], ['pointerup', end], ['pointercancel', end]]) document.addEventListener(kind, listener);
}
