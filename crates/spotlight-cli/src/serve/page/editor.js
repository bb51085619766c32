// Weights put in by hand: one row of them as sliders, and what every way of editing shares.

import { h, seen } from './dom.js';
import { change, state } from './state.js';

const isOf = (edit, step) => edit.step === step;
export const editedAt = step => state.edits.find(edit => isOf(edit, step));

// Puts a row of weights in the place of any that were put in there before.
export function put(step, weights) {
  const rounded = weights.map(w => Math.round(w * 1e4) / 1e4);
  change({ row: step, edits: [...state.edits.filter(edit => !isOf(edit, step)), { step, weights: rounded }] });
}

// One weight is set; the others share what is left as they did before.
export function set(step, row, j, weight) {
  const others = row.reduce((sum, w) => sum + w, 0) - row[j];
  put(step, row.map((w, i) => i === j ? weight : others > 1e-6 ? w / others * (1 - weight) : (1 - weight) / Math.max(1, row.length - 1)));
}

export function editor(units, row, step, title) {
  const order = row.map((w, j) => j).sort((a, b) => row[b] - row[a]);
  const swap = () => put(step, row.map((w, j) => j === order[0] ? row[order[1]] : j === order[1] ? row[order[0]] : w));
  const chosen = h('select', { class: 'one', 'aria-label': 'unit to look at' }, units.map((unit, j) => h('option', { value: String(j) }, `${j + 1} ${seen(unit)}`)));
  chosen.value = String(order[0]);
  return h('section', { class: 'editor' }, h('h2', {}, title),
    h('p', { class: 'row' }, h('button', { class: 'uniform', onclick: () => put(step, row.map(() => 1 / row.length)) }, 'uniform'),
      h('button', { class: 'one-hot', onclick: () => put(step, row.map((_, j) => Number(j === Number(chosen.value)))) }, 'only'), chosen,
      h('button', { class: 'swap', disabled: row.length < 2, onclick: swap }, 'swap the two heaviest'),
      h('button', { class: 'undo', disabled: !editedAt(step), onclick: () => change({ edits: state.edits.filter(edit => !isOf(edit, step)) }) }, 'as it was')),
    h('div', { class: 'sliders' }, units.map((unit, j) => h('label', {}, seen(unit),
      h('input', { type: 'range', min: '0', max: '1', step: '0.01', value: String(row[j]), 'data-column': String(j), 'aria-label': `weight of ${seen(unit)}, ${j + 1}`, oninput: event => set(step, row, j, Number(event.target.value)) }),
      h('small', {}, row[j].toFixed(2))))));
}
