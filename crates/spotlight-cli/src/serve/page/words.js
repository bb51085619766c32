// Striking, replacing and moving the words of a text: before and after, aligned.

import { h, percent, seen, signed } from './dom.js';
import { matrix } from './matrix.js';
import { change, searching, state } from './state.js';
import { predict } from './transport.js';
import { trust } from './trust.js';

// What a text is made of: words, or characters where there are no spaces; a tab between a question and an answer stays one. A bag is made of its rows, under a header that stays.
export function cut(text, task) {
  if (task === 'bags') return text.split('\n').slice(1).filter(row => row.trim());
  const line = task === 'match' ? text.split('\n').find(line => line.trim()) ?? '' : text;
  return /\s/.test(line.trim()) ? line.trim().split(/(\t)|\s+/).filter(word => word === '\t' || word?.trim()) : [...line];
}
export function join(words, text, task) {
  if (task === 'bags') return [text.split('\n')[0], ...words].join('\n');
  return /\s/.test(text.trim()) ? words.join(' ').replace(/ *\t */g, '\t') : words.join('');
}

let chosen = 0;

export async function load(model, text) {
  const options = searching();
  const variant = state.variant ?? text;
  const writes = model.task === 'seq2seq';
  const ask = (texts, slot) => predict(model.name, texts, writes ? { options } : {}, slot);
  const lines = whole => model.task === 'bags' ? whole.split('\n').filter(row => row.trim()) : [model.task === 'match' ? join(cut(whole, 'match'), whole, 'match') : whole.replace(/\n/g, ' ')];
  const [[before], [after]] = await Promise.all([ask(lines(text), 'words before'), ask(lines(variant), 'words after')]);
  // What each word is worth: the text without it, all of them at once.
  const words = cut(text, model.task);
  const without = !writes && model.task === 'classify' && words.length > 1 && words.length <= 100 ? await ask(words.map((_, i) => join(words.toSpliced(i, 1), text)), 'words without') : [];
  return { before, after, words, without, task: model.task };
}

export function show({ before, after, words, without, task }) {
  const text = state.text, now = cut(state.variant ?? text, task), what = task === 'bags' ? 'Rows of the bag' : task === 'match' ? 'Words of the question and the answer' : 'Words of the text';
  chosen = Math.min(chosen, Math.max(0, now.length - 1));
  const put = (list, at = chosen) => { chosen = Math.max(0, Math.min(at, list.length - 1)); change({ variant: join(list, text, task) }); };
  const move = by => { const list = [...now]; const [word] = list.splice(chosen, 1); list.splice(chosen + by, 0, word); put(list, chosen + by); };
  const other = h('input', { type: 'text', class: 'other', size: 12, 'aria-label': 'another word', value: now[chosen] ?? '', onkeydown: event => { if (event.key === 'Enter') put(now.with(chosen, other.value)); } });
  return [
    h('h2', {}, what),
    h('div', { class: 'units words', role: 'group' }, now.map((word, i) => h('button', { 'aria-pressed': String(i === chosen), class: words[i] === word ? '' : 'changed', onclick: () => { chosen = i; change({ variant: state.variant ?? text }); } }, seen(word)))),
    h('p', { class: 'row' }, h('button', { class: 'strike', disabled: now.length < 2, onclick: () => put(now.toSpliced(chosen, 1)) }, 'strike'),
      h('button', { class: 'left', disabled: chosen === 0, onclick: () => move(-1) }, '← move'), h('button', { class: 'right', disabled: chosen >= now.length - 1, onclick: () => move(1) }, 'move →'),
      other, h('button', { class: 'replace', onclick: () => put(now.with(chosen, other.value)) }, 'replace'),
      h('button', { class: 'restore', disabled: !state.variant || state.variant === text, onclick: () => change({ variant: null }) }, 'as it was'),
      h('button', { class: 'take', disabled: !state.variant || state.variant === text, onclick: () => change({ text: state.variant }) }, 'go on with this')),
    compare(before, after),
    without.length > 0 && [h('h2', {}, 'The text without each word'), worth(before, words, without)],
  ];
}

// How the probability of the label falls if a word is left out.
function worth(before, words, without) {
  const p = before.probabilities[before.label];
  const falls = without.map(answer => answer.error ? 0 : p - answer.probabilities[before.label]);
  const most = Math.max(1e-9, ...falls.map(Math.abs));
  return h('div', { class: 'bars worth' }, words.map((word, i) => h('div', {}, h('span', {}, seen(word)), h('i', { style: `width:${100 * Math.abs(falls[i]) / most}%;${falls[i] < 0 ? 'background:var(--mark)' : ''}` }), h('span', {}, signed(falls[i])))));
}

// Units of two lists that stand for each other: the longest common subsequence.
export function align(a, b) {
  const table = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (table[i + 1][j] >= table[i][j + 1]) i++;
    else j++;
  }
  return pairs;
}

export function compare(before, after) {
  if (before.error || after.error) return h('p', {}, before.error ?? after.error);
  if (before.label !== undefined) {
    return [h('h2', {}, 'Before and after'), h('table', { class: 'before-after' }, h('thead', {}, h('tr', {}, h('th', {}, 'label'), ['before', 'after', 'change'].map(n => h('th', { class: 'n' }, n)))),
      h('tbody', {}, Object.keys(before.probabilities).map(label => h('tr', {}, h('td', {}, label), h('td', { class: 'n' }, percent(before.probabilities[label])), h('td', { class: 'n' }, percent(after.probabilities[label] ?? 0)),
        h('td', { class: `n ${(after.probabilities[label] ?? 0) < before.probabilities[label] ? 'down' : 'up'}` }, signed((after.probabilities[label] ?? 0) - before.probabilities[label]))))))];
  }
  if (before.score !== undefined) return [h('h2', {}, 'Before and after'), h('p', {}, `score ${before.score.toFixed(4)} → ${after.score.toFixed(4)} (${signed(after.score - before.score)})`)];
  const was = before.hypotheses[0], now = after.hypotheses[0];
  const reads = align(before.source_tokens, after.source_tokens), writes = align(was.tokens, now.tokens);
  const difference = writes.map(([i, k]) => reads.map(([j, l]) => (now.attention[k]?.[l] ?? 0) - (was.attention[i]?.[j] ?? 0)));
  const kept = new Set(writes.map(([, k]) => k));
  return [h('h2', {}, 'Before and after'),
    h('table', { class: 'before-after' }, h('tbody', {}, h('tr', {}, h('th', {}, 'before'), h('td', { class: 't' }, was.text), h('td', { class: 'n' }, was.log_prob.toFixed(3))),
      h('tr', {}, h('th', {}, 'after'), h('td', { class: 't' }, now.tokens.map((unit, k) => h('span', { class: kept.has(k) ? '' : 'changed' }, unit))), h('td', { class: 'n' }, `${now.log_prob.toFixed(3)} (${signed(now.log_prob - was.log_prob)})`)))),
    difference.length > 0 && reads.length > 0 && [h('h3', {}, 'Change of the weights, for units that are in both'),
      h('div', { class: 'wide' }, matrix(reads.map(([j]) => before.source_tokens[j]), writes.map(([i]) => was.tokens[i]), difference, { signed: true, label: 'change of weights' })), trust(now.confidence ?? Math.exp(now.log_prob))]];
}
