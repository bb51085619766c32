// What stands beside every picture: how sure the model is, and how far its attention can be trusted.

import { h, percent } from './dom.js';

let verdict = 'This model’s attention has not been audited.';
export const judged = text => { verdict = text; document.querySelectorAll('.trust .verdict').forEach(element => { element.textContent = text; }); };

// `sure` is what there is of confidence: a text, or a probability.
export const trust = sure => h('p', { class: 'row trust' }, sure != null && h('span', {}, typeof sure === 'number' ? ['confidence ', h('b', {}, percent(sure))] : sure), h('span', { class: 'verdict' }, verdict));
