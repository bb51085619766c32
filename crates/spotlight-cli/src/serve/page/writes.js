// A model that writes: its answer, where it looked, and what happens if it looks elsewhere or is made to say something else.

import { h, percent, seen, signed } from './dom.js';
import { lines, matrix } from './matrix.js';
import { change, state } from './state.js';
import { predict } from './transport.js';
import { tree } from './tree.js';

const ALTERNATIVES = 6;

// The answer as it is, and as it is with what was put in.
export async function load(model, text, slot = 'look') {
  const options = { beam: state.beam };
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

export function show({ before, after, touched }) {
  const was = before.hypotheses[0], now = after.hypotheses[0];
  if (!now || !after.source_tokens.length) return [h('p', {}, 'Type something to read.')];
  const changed = changes(was.tokens, now.tokens);
  const edited = new Set(state.edits.map(edit => edit.step));
  const onrow = row => change({ row: state.row === row ? null : row });
  return [
    h('h2', {}, 'Answer'),
    h('p', { class: 'answer' }, now.text || '(nothing)'),
    touched && h('p', { class: 'before row' }, 'before: ', h('span', { class: 'was answer-before' }, was.text || '(nothing)'), ' change of log-probability ',
      h('b', { class: `delta ${now.log_prob < was.log_prob ? 'down' : 'up'}` }, signed(now.log_prob - was.log_prob)),
      `${changed.size} of ${now.tokens.length} units changed`, h('button', { class: 'reset', onclick: () => change({ force: [], edits: [], off: [] }) }, 'undo all')),
    h('p', { class: 'row' }, 'confidence ', h('b', {}, percent(Math.exp(now.log_prob))), ` log-probability ${now.log_prob.toFixed(3)}`),
    units(now, changed),
    state.row !== null && alternatives(after, now),
    now.attention.length ? [
      h('div', { class: 'panels' },
        h('section', {}, h('h2', {}, 'Where it looked'), h('p', { class: 'row' }, 'choose a row to change it; numbers are weights from 0 to 1'),
          h('div', { class: 'wide' }, matrix(after.source_tokens, now.tokens, now.attention, { row: state.row, onrow, changed, edited }))),
        h('section', {}, h('h2', {}, 'The same as lines'), h('div', { class: 'wide' }, lines(after.source_tokens, now.tokens, now.attention)))),
      state.row !== null && state.row < now.attention.length && editor(after.source_tokens, now.attention[state.row]),
      after.step && step(after),
      now.heads && heads(after, now),
    ] : h('p', {}, 'This model has no attention to look at.'),
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

// The weights of a row as sliders.
function editor(source, row) {
  const put = weights => {
    const rounded = weights.map(w => Math.round(w * 1e4) / 1e4);
    change({ edits: [...state.edits.filter(edit => edit.step !== state.row), { step: state.row, weights: rounded }] });
  };
  // One weight is set; the others share what is left as they did before.
  const set = (j, weight) => {
    const others = 1 - row[j];
    put(row.map((w, i) => i === j ? weight : others > 1e-6 ? w / others * (1 - weight) : (1 - weight) / Math.max(1, row.length - 1)));
  };
  const order = row.map((w, j) => j).sort((a, b) => row[b] - row[a]);
  const swap = () => put(row.map((w, j) => j === order[0] ? row[order[1]] : j === order[1] ? row[order[0]] : w));
  const chosen = h('select', { class: 'one', 'aria-label': 'unit to look at' }, source.map((unit, j) => h('option', { value: String(j) }, `${j + 1} ${seen(unit)}`)));
  chosen.value = String(order[0]);
  return h('section', { class: 'editor' }, h('h2', {}, `Weights of row ${state.row + 1}`),
    h('p', { class: 'row' }, h('button', { class: 'uniform', onclick: () => put(row.map(() => 1 / row.length)) }, 'uniform'),
      h('button', { class: 'one-hot', onclick: () => put(row.map((_, j) => Number(j === Number(chosen.value)))) }, 'only'), chosen,
      h('button', { class: 'swap', disabled: row.length < 2, onclick: swap }, 'swap the two heaviest'),
      h('button', { class: 'undo', disabled: !state.edits.some(edit => edit.step === state.row), onclick: () => change({ edits: state.edits.filter(edit => edit.step !== state.row) }) }, 'as it was')),
    h('div', { class: 'sliders' }, source.map((unit, j) => h('label', {}, seen(unit),
      h('input', { type: 'range', min: '0', max: '1', step: '0.01', value: String(row[j]), 'data-column': String(j), 'aria-label': `weight of ${seen(unit)}, ${j + 1}`, oninput: event => set(j, Number(event.target.value)) }),
      h('small', {}, row[j].toFixed(2))))));
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
  return [h('h2', {}, 'Heads'), h('div', { class: 'row heads' }, now.heads.map((weights, head) => h('label', {}, matrix(answer.source_tokens, now.tokens, weights, { small: true, label: `head ${head + 1}` }),
    h('br'), h('input', { type: 'checkbox', checked: !state.off.includes(head), onchange: () => change({ off: state.off.includes(head) ? state.off.filter(x => x !== head) : [...state.off, head] }) }), ` head ${head + 1}`)))];
}
