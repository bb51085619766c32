// What the model has seen before: training rows whose context is nearest to the one at hand. Asked for on its own, for the first time takes long.

import { h, seen } from './dom.js';
import { change } from './state.js';
import { cancelled, predict } from './transport.js';

const MANY = 5;

// `pick` finds the answer among those that come back.
export function nearest(model, texts, more, pick = answers => answers[0], opens = true) {
  const place = h('div', { class: 'wide' }, h('p', { class: 'row' }, 'looking through the training rows …'));
  const put = (...parts) => place.replaceChildren(...parts);
  predict(model, texts, { ...more, nearest: MANY }, 'nearest').then(answers => {
    const rows = pick(answers)?.nearest ?? [];
    put(rows.length ? table(rows, opens) : h('p', { class: 'row' }, 'There is none to compare with.'));
  }).catch(error => { if (!cancelled(error)) put(h('p', { class: 'row why' }, error.message)); });
  return h('section', { class: 'nearest' }, h('h2', {}, 'Seen in training, with a context like this'), place);
}

function table(rows, opens) {
  const writes = rows[0].step !== undefined;
  const where = row => !writes ? [] : [h('td', { class: 't' }, row.token === undefined ? 'its end' : `${row.step + 1}: ${seen(row.token)}`)];
  const open = row => !opens ? row.source : h('button', { onclick: () => change({ text: row.source }) }, row.source);
  return h('table', {}, h('thead', {}, h('tr', {}, ['read', writes ? 'wrote' : 'right was', ...(writes ? ['at'] : []), 'cosine'].map(name => h('th', { class: name === 'cosine' ? 'n' : '' }, name)))),
    h('tbody', {}, rows.map(row => h('tr', {}, h('td', { class: 't' }, open(row)), h('td', { class: 't' }, row.target), where(row), h('td', { class: 'n' }, row.cosine.toFixed(3))))));
}
