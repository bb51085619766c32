// A model that writes: its answer, where it looked, and what happens if it looks elsewhere or is made to say something else.

import { h, percent, seen, signed } from './dom.js';
import { editor, set } from './editor.js';
import { framed, lines, matrix } from './matrix.js';
import { nearest } from './nearest.js';
import { scale } from './scale.js';
import { change, searching, state } from './state.js';
import { predict } from './transport.js';
import { tree } from './tree.js';
import { trust } from './trust.js';

const ALTERNATIVES = 6;

// The answer as it is, and as it is with what was put in.
export async function load(model, text, slot = 'look') {
  const options = searching();
  const plain = predict(model, [text], { options, alternatives: ALTERNATIVES }, `${slot} plain`);
  const touched = state.force.length + state.edits.length + state.off.length > 0;
  const more = { options, force: state.force, edits: state.edits, heads_off: state.off, alternatives: ALTERNATIVES };
  if (state.row !== null) more.step = state.row;
  const now = touched || state.row !== null ? predict(model, [text], more, `${slot} now`) : plain;
  const [[before], [after]] = await Promise.all([plain, now]);
  return { before, after, touched };
}

// Which units of the answer are others than before.
export function changes(before, after) {
  const changed = new Set();
  after.forEach((unit, i) => { if (unit !== before[i]) changed.add(i); });
  return changed;
}

export function show({ before, after, touched }, model) {
  const was = before.hypotheses[0], now = after.hypotheses[0];
  if (!now || !after.source_tokens.length) return [h('p', {}, 'Type something to read.')];
  const changed = changes(was.tokens, now.tokens);
  const edited = new Set(state.edits.map(edit => edit.step));
  const onrow = row => change({ row: state.row === row ? null : row });
  const onweight = (row, column, weight) => set(row, now.attention[row], column, weight);
  const sure = now.confidence === undefined ? Math.exp(now.log_prob) : `confidence ${percent(now.confidence)}, calibrated`;
  return [
    h('h2', {}, 'Answer'),
    h('p', { class: 'answer', dir: 'auto' }, now.text || '(nothing)'),
    touched && h('p', { class: 'before row' }, 'before: ', h('span', { class: 'was answer-before' }, was.text || '(nothing)'), ' change of log-probability ',
      h('b', { class: `delta ${now.log_prob < was.log_prob ? 'down' : 'up'}` }, signed(now.log_prob - was.log_prob)),
      `${changed.size} of ${now.tokens.length} units changed`, h('button', { class: 'reset', onclick: () => change({ force: [], edits: [], off: [] }) }, 'undo all')),
    h('p', { class: 'row' }, `log-probability ${now.log_prob.toFixed(3)}`),
    units(now, changed),
    state.row !== null && alternatives(after, now),
    now.attention.length ? [
      h('div', { class: 'panels' },
        h('section', {}, h('h2', {}, 'Where it looked'), h('p', { class: 'row legend' }, `${scale(now.attention, 'unit').legend}. Choose a row, or drag a cell up and down, to change it.`),
          framed(after.source_tokens, now.tokens, now.attention, { row: state.row, onrow, onweight, changed, edited }), trust(sure)),
        h('section', {}, h('h2', {}, 'The same as lines'), h('div', { class: 'wide' }, lines(after.source_tokens, now.tokens, now.attention)), trust(sure))),
      state.row !== null && state.row < now.attention.length && editor(after.source_tokens, now.attention[state.row], state.row, `Weights of row ${state.row + 1}`),
      after.step && step(after),
      state.row !== null && state.row < now.tokens.length && nearest(model, [state.text.replace(/\n/g, ' ')], { options: searching(), force: state.force, edits: state.edits, heads_off: state.off, step: state.row }),
      now.heads && heads(after, now),
    ] : h('p', {}, now.tokens.length ? 'This model has no attention to look at.' : 'Nothing was written: there is no row to draw.'),
    state.beam > 1 && [h('h2', {}, 'What else was thought of'), h('div', { class: 'wide' }, tree(after))],
  ];
}

// The units of the answer; each opens its row and its alternatives.
function units(now, changed) {
  const button = (unit, i) => h('button', {
    class: changed.has(i) ? 'changed' : '', 'aria-pressed': String(state.row === i), 'data-unit': String(i),
    onclick: () => change({ row: state.row === i ? null : i }),
  }, seen(unit), h('small', {}, percent(now.probabilities[i])));
  return h('div', { class: 'units', role: 'group', 'aria-label': 'units of the answer' }, now.tokens.map(button),
    state.force.length > 0 && h('button', { class: 'free', onclick: () => change({ force: [] }) }, `let go of ${state.force.length} forced`));
}

// What could stand here instead. Taking one forces the answer up to it, and the model goes on from there.
function alternatives(answer, now) {
  const here = state.row;
  let at = null;
  for (const unit of now.tokens.slice(0, here)) at = answer.thoughts.findIndex(t => t.before === at && t.token === unit);
  const found = at === -1 ? [] : answer.thoughts.filter(t => t.before === at).sort((a, b) => b.log_prob - a.log_prob);
  return [h('h3', {}, `Instead of “${seen(now.tokens[here] ?? null)}” at ${here + 1}`),
    h('div', { class: 'units alternatives' }, found.map(t => h('button', {
      disabled: t.token === null || t.token === now.tokens[here], 'aria-pressed': String(t.token === now.tokens[here]),
      onclick: () => change({ force: [...now.tokens.slice(0, here), t.token], edits: state.edits.filter(edit => edit.step <= here) }),
    }, seen(t.token), h('small', {}, percent(Math.exp(t.log_prob))))))];
}

// One step with its numbers.
function step(answer) {
  const n = answer.step, few = list => list.slice(0, 6).map(x => x.toFixed(3)).join('  ') + (list.length > 6 ? `  … (${list.length})` : '');
  const asks = n.order === 'luong' ? 's_i' : 's_(i-1)';
  const head = n.softmax[0] ?? n.weights[0] ?? [];
  const put = n.weights[0]?.some((w, j) => Math.abs(w - head[j]) > 1e-6);
  return h('section', { class: 'step' }, h('h2', {}, `Step ${n.step + 1} in numbers`),
    h('div', { class: 'formula' }, [
      `e_j = score(${asks}, h_j)          ${n.score} score`, 'a_j = exp(e_j) / Σ_k exp(e_k)      softmax', 'c   = Σ_j a_j h_j                  mix',
      n.order === 'luong' ? 's_i = cell(y_i, s_(i-1)),  read out tanh(W [c; s_i])' : 's_i = cell([y_i; c], s_(i-1)),  read out [s_i; c]'].join('\n')),
    h('div', { class: 'wide' }, h('table', {}, h('thead', {}, h('tr', {}, ['j', 'reads', 'e', 'exp(e − max)', 'a', put && 'a, put in'].filter(Boolean).map((name, i) => h('th', { class: i === 1 ? '' : 'n' }, name)))),
      h('tbody', {}, answer.source_tokens.map((unit, j) => {
        const scores = n.scores[0] ?? [], most = Math.max(...scores);
        return h('tr', {}, h('td', { class: 'n' }, String(j + 1)), h('td', { class: 't' }, seen(unit)),
          h('td', { class: 'n' }, scores.length ? scores[j].toFixed(4) : ''), h('td', { class: 'n' }, scores.length ? Math.exp(scores[j] - most).toFixed(4) : ''),
          h('td', { class: 'n' }, (head[j] ?? 0).toFixed(4)), put && h('td', { class: 'n' }, n.weights[0][j].toFixed(4)));
      })))),
    h('div', { class: 'formula' }, [`s_(i-1) = ${few(n.before)}`, `c       = ${few(n.context)}`, `s_i     = ${few(n.state)}`, `then      ${n.top.slice(0, 5).map(([unit, p]) => `${seen(unit)} ${percent(p)}`).join('   ')}`].join('\n')));
}

// Each head small; one can be switched off.
function heads(answer, now) {
  return [h('h2', {}, 'Heads'), h('div', { class: 'row heads' }, now.heads.map((weights, head) => h('label', {}, matrix(answer.source_tokens, now.tokens, weights, { small: 7, label: `head ${head + 1}` }),
    h('br'), h('input', { type: 'checkbox', checked: !state.off.includes(head), onchange: () => change({ off: state.off.includes(head) ? state.off.filter(x => x !== head) : [...state.off, head] }) }), ` head ${head + 1}`)))];
}
