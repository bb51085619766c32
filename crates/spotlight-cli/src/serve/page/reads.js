// Models that read and judge: texts with labels, questions with answers, bags.

import { colour, h, inkOn, percent, seen, signed } from './dom.js';
import { editor, set } from './editor.js';
import { matrix } from './matrix.js';
import { nearest } from './nearest.js';
import { scale } from './scale.js';
import { change, state } from './state.js';
import { drag, dragged, tip, untip } from './tip.js';
import { cancelled, predict } from './transport.js';
import { trust } from './trust.js';

export const textsOf = (model, text) => model.task === 'bags' || model.task === 'match' ? text.split('\n').filter(line => line.trim()) : [text.replace(/\n/g, ' ')];

// The answers, and what other views say of them and what they are with weights put in; where a model cannot be played with, why.
export async function load(model, text, slot = 'look', play = true) {
  const texts = textsOf(model, text);
  if (!texts.length) return { answers: [] };
  const plain = predict(model.name, texts, {}, slot);
  if (!play) return { answers: await plain };
  const more = { views: true, edits: state.edits, heads_off: state.off };
  const played = predict(model.name, texts, more, `${slot} played`).catch(error => { if (cancelled(error)) throw error; return error; });
  const [answers, found] = await Promise.all([plain, played]);
  return found instanceof Error ? { answers, why: found.message } : { answers: found };
}

export const mean = attention => Array.isArray(attention[0]) ? attention[0].map((_, j) => attention.reduce((sum, head) => sum + head[j], 0) / attention.length) : attention;

export function show({ answers, why }, model) {
  if (!answers.length) return [h('p', {}, 'Type something to read.')];
  const one = (answer, at) => answer.error ? h('p', { class: 'down' }, answer.error) : 'bag' in answer ? bag(answer, at) : label(answer, at);
  const touched = state.edits.length + state.off.length > 0;
  return [touched && h('p', { class: 'row' }, h('button', { class: 'reset', onclick: () => change({ edits: [], off: [] }) }, 'undo all')),
    'question' in answers[0] ? bench(answers) : answers.map(one),
    why && h('p', { class: 'row why' }, `No other views here: ${why}`),
    model && near(answers, model)];
}

// Of several candidates, for the best; of several bags, for the first.
function near(answers, model) {
  if (answers.some(answer => answer.error)) return null;
  const best = answers.reduce((most, answer, i) => answer.score > answers[most].score ? i : most, 0);
  return nearest(model.name, textsOf(model, state.text), {}, found => found[best], model.task !== 'bags');
}

const bars = probabilities => h('div', { class: 'bars' }, Object.entries(probabilities).sort((a, b) => b[1] - a[1]).slice(0, 12)
  .map(([name, p]) => h('div', {}, h('span', {}, name), h('i', { style: `width:${100 * p}%` }), h('span', {}, percent(p)))));

// Units, each in a colour, told on a touch; with `onweight` they can be dragged.
function units(tokens, values, share, told, onweight) {
  return h('div', { class: 'shaded', dir: 'auto' }, tokens.map((unit, i) => h('button', {
    style: `background:${colour(share(values[i]) * 0.9)};color:${inkOn(share(values[i]) * 0.9)};touch-action:${onweight && state.row !== null ? 'none' : 'auto'}`, class: onweight ? 'dragged' : '', 'aria-label': `${seen(unit)}: ${told(values[i])}`,
    onpointermove: event => tip(event, `${seen(unit)}: ${told(values[i])}`), onpointerleave: event => { if (event.pointerType !== 'touch') untip(); },
    onpointerdown: event => { tip(event, `${seen(unit)}: ${told(values[i])}`); if (onweight) drag(event, values[i], seen(unit), weight => onweight(i, weight)); },
    onclick: event => { if (dragged()) event.preventDefault(); },
  }, seen(unit))));
}

// By the weights, as times uniform unless another scale was chosen.
function shaded(tokens, values, onweight) {
  const on = scale([values], 'uniform');
  return units(tokens, values, on.share, w => `weight ${w.toFixed(4)}, ${(w * values.length).toFixed(2)} times uniform`, onweight);
}
const legend = values => h('span', { class: 'legend' }, scale([values], 'uniform').legend);

// By numbers that have a sign, up to the largest.
function signedStrip(tokens, values) {
  const most = Math.max(1e-9, ...values.map(Math.abs));
  return units(tokens, values, x => x / most, x => signed(x));
}

// Attention, gradient x input and leave-one-out of the same units, one under the other, and how far they agree.
function views(tokens, { label, probability, attention, gradient, leave_one_out: without, agreement }, sure) {
  const tau = x => x === null ? '' : ` (τ with attention ${signed(x)})`;
  const row = (name, strip, more) => [h('span', {}, name), h('div', {}, strip, more && h('span', { class: 'legend' }, more))];
  const of = label === 'score' ? `the score, ${probability.toFixed(4)}` : `“${label}”, ${percent(probability)} before calibration`;
  return h('section', { class: 'other-views' }, h('h3', {}, `Three views of ${of}`), h('div', { class: 'views' },
    row('attention', shaded(tokens, attention), scale([attention], 'uniform').legend),
    row('gradient x input', signedStrip(tokens, gradient), `what it leans on, by its slope: blue speaks for it, red against${tau(agreement.gradient)}`),
    row('leave-one-out', signedStrip(tokens, without), `what it loses without the unit: blue it would lose, red it would gain${tau(agreement.leave_one_out)}`)), trust(sure));
}

// The weights with what was put in, to be changed; and what the answer became.
function play(tokens, answer, own, at, what) {
  const now = answer.edited ? mean(answer.edited.attention) : own, open = state.row === at;
  const onweight = (j, weight) => set(at, now, j, weight);
  return [shaded(tokens, now, onweight), legend(now),
    h('p', { class: 'row' }, h('button', { class: 'change', 'aria-pressed': String(open), onclick: () => change({ row: open ? null : at }) }, 'change these weights'), 'or drag a unit up and down'),
    open && editor(tokens, now, at, `Weights of ${what}`)];
}

// How sure the model is, with what was put in.
const sureOf = ({ edited, probabilities, label }) => edited ? edited.probabilities[edited.label] : probabilities[label];

function outcome(answer, before) {
  const { edited } = answer;
  if (!edited) return null;
  const now = edited.score === undefined ? `${edited.label} ${percent(edited.probabilities[edited.label])}` : edited.score.toFixed(4);
  return h('p', { class: 'row before' }, 'with these weights ', h('b', { class: `answer-now ${edited.score === undefined && edited.label !== answer.label ? 'changed' : ''}` }, now), ' before ', h('span', { class: 'was answer-before' }, before),
    ' change of log-probability ', h('b', { class: `delta ${edited.change < 0 ? 'down' : 'up'}` }, signed(edited.change)));
}

// The heads of one look, small; each can be switched off.
function heads(tokens, attention) {
  if (!Array.isArray(attention?.[0]) || attention.length < 2) return null;
  const toggle = head => change({ off: state.off.includes(head) ? state.off.filter(x => x !== head) : [...state.off, head] });
  return [h('h3', {}, 'Heads'), h('div', { class: 'row heads' }, attention.map((weights, head) => h('label', {}, matrix(tokens, ['weights'], [weights], { small: 7, label: `head ${head + 1}` }), h('br'),
    h('input', { type: 'checkbox', checked: !state.off.includes(head), onchange: () => toggle(head) }), ` head ${head + 1}`)))];
}

function label(answer, place) {
  const names = Object.keys(answer.probabilities), at = names.indexOf(answer.label), weights = answer.attention.length ? mean(answer.attention) : [], sure = answer.probabilities[answer.label], now = sureOf(answer);
  return [h('h2', {}, 'Label'), h('p', { class: 'answer' }, answer.label), outcome(answer, `${answer.label} ${percent(sure)}`), bars(answer.edited?.probabilities ?? answer.probabilities),
    weights.length > 0 && h('section', {}, h('h2', {}, 'Attention'), answer.views ? play(answer.tokens, answer, weights, place, 'the text') : [shaded(answer.tokens, weights), legend(weights)], trust(now), heads(answer.tokens, answer.attention)),
    answer.contributions && h('section', {}, h('h2', {}, `What each word adds to “${answer.label}”`), signedStrip(answer.tokens, answer.contributions.map(row => row[at])), h('span', { class: 'legend' }, 'blue speaks for it, red against'), trust(sure)),
    answer.views && views(answer.tokens, answer.views, sure)];
}

// The candidates of each question, the best first, and what their scores are made of.
function bench(answers) {
  const questions = [...new Set(answers.map(answer => answer.question))];
  return questions.map(question => {
    const own = answers.map((answer, at) => [answer, at]).filter(([answer]) => answer.question === question).sort((a, b) => b[0].score - a[0].score);
    return h('section', { class: 'bench' }, h('h2', {}, question), h('div', { class: 'wide' }, ranking(own)), own.map(([answer, at], rank) => candidate(answer, at, rank + 1)));
  });
}

// All candidates with the parts of their scores side by side.
function ranking(own) {
  const parts = own[0][0].parts ?? [];
  return h('table', { class: 'ranking' }, h('thead', {}, h('tr', {}, ['', 'answer'].map(n => h('th', {}, n)), h('th', { class: 'n' }, 'score'), parts.map(part => h('th', { class: 'n' }, part.name)))),
    h('tbody', {}, own.map(([answer], rank) => h('tr', {}, h('td', { class: 'n' }, String(rank + 1)), h('td', { class: 't' }, answer.answer), h('td', { class: 'n' }, answer.score.toFixed(4)), (answer.parts ?? []).map(part => h('td', { class: 'n' }, signed(part.value)))))));
}

function candidate(answer, at, rank) {
  const [question, reply] = [mean(answer.attention.question), mean(answer.attention.answer)], sure = `score ${answer.score.toFixed(4)}`;
  const pairs = answer.contributions?.matches;
  return h('section', { class: 'candidate' }, h('h2', {}, `score ${answer.score.toFixed(4)} of answer ${rank}`), outcome(answer, answer.score.toFixed(4)), answer.parts && sum(answer),
    h('div', { class: 'strip' }, h('span', {}, 'question'), h('div', {}, question.length ? [shaded(answer.question_tokens, question), legend(question)] : answer.question), h('span', {}, 'answer'),
      h('div', {}, reply.length ? answer.views && !pairs ? play(answer.answer_tokens, answer, reply, at, 'the answer') : [shaded(answer.answer_tokens, reply), legend(reply)] : answer.answer)), trust(sure),
    answer.views && views(answer.answer_tokens, answer.views, sure),
    pairs ? h('details', {}, h('summary', {}, 'what each match of two words adds'), h('div', { class: 'wide' }, matrix(answer.answer_tokens, answer.question_tokens, pairs, { signed: true, label: 'what each match adds to the score' })), trust(sure))
      : question.length > 0 && reply.length > 0 && h('details', {}, h('summary', {}, 'each pair of units (product of both weights)'), h('div', { class: 'wide' }, matrix(answer.answer_tokens, answer.question_tokens, question.map(q => reply.map(a => q * a)))), trust(sure)));
}

// A score as a sum; one that is a probability as the logistic curve of a sum.
function sum({ parts, score }) {
  const total = parts.reduce((all, part) => all + part.value, 0), most = Math.max(1e-9, ...parts.map(part => Math.abs(part.value)));
  const exact = Math.abs(total - score) < 1e-3 * Math.max(1, Math.abs(score));
  return h('table', { class: 'parts' }, h('tbody', {}, parts.map(({ name, value }) => h('tr', {}, h('td', {}, name), h('td', {}, h('i', { class: value < 0 ? 'less' : '', style: `width:${120 * Math.abs(value) / most}px` })), h('td', { class: 'n' }, signed(value)))),
    h('tr', {}, h('td', {}, exact ? 'together: the score' : 'together; the score is 1 / (1 + e^-x) of it'), h('td', {}), h('td', { class: 'n total' }, signed(total)))));
}

function bag(answer, at) {
  const weights = mean(answer.attention), now = answer.edited ? mean(answer.edited.attention) : weights, names = weights.map((_, i) => `row\u00a0${i + 1}`), sure = answer.probabilities[answer.label];
  return h('section', { class: 'bag' }, h('h2', {}, `${answer.bag}: ${answer.label}`), outcome(answer, `${answer.label} ${percent(sure)}`), bars(answer.edited?.probabilities ?? answer.probabilities),
    h('h3', {}, 'Weight of each row'), h('div', { class: 'bars' }, now.map((w, i) => h('div', {}, h('span', {}, names[i]), h('i', { style: `width:${100 * w / Math.max(...now, 1e-9)}%` }), h('span', {}, w.toFixed(3))))),
    answer.views ? play(names, answer, weights, at, answer.bag) : legend(weights), trust(sureOf(answer)), heads(names, answer.attention), answer.views && views(names, answer.views, sure));
}
