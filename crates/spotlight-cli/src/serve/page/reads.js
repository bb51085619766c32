// Models that read and judge: texts with labels, questions with answers, bags.

import { colour, h, inkOn, percent, seen } from './dom.js';
import { matrix } from './matrix.js';
import { predict } from './transport.js';

export async function load(model, text, slot = 'look') {
  const texts = model.task === 'bags' || model.task === 'match' ? text.split('\n').filter(line => line.trim()) : [text.replace(/\n/g, ' ')];
  return texts.length ? predict(model.name, texts, {}, slot) : [];
}

const mean = attention => Array.isArray(attention[0]) ? attention[0].map((_, j) => attention.reduce((sum, head) => sum + head[j], 0) / attention.length) : attention;

export function show(answers) {
  if (!answers.length) return [h('p', {}, 'Type something to read.')];
  return answers.map(answer => answer.error ? h('p', { class: 'down' }, answer.error) : 'bag' in answer ? bag(answer) : 'question' in answer ? match(answer) : label(answer));
}

const bars = probabilities => h('div', { class: 'bars' }, Object.entries(probabilities).sort((a, b) => b[1] - a[1]).slice(0, 12)
  .map(([name, p]) => h('div', {}, h('span', {}, name), h('i', { style: `width:${100 * p}%` }), h('span', {}, percent(p)))));

// Units shaded by their weights as times uniform: 1 is neutral, more is dark, less is the other colour.
function shaded(tokens, values) {
  const times = values.map(weight => weight * values.length), most = Math.max(3, ...times);
  return h('div', { class: 'shaded' }, tokens.map((unit, i) => {
    const share = times[i] >= 1 ? (times[i] - 1) / (most - 1) : (times[i] - 1) * 0.25;
    return h('button', { style: `background:${colour(share * 0.9)};color:${inkOn(share * 0.9)}`, title: `${seen(unit)}: weight ${values[i].toFixed(4)}, ${times[i].toFixed(2)} times uniform` }, seen(unit));
  }));
}

const evenness = values => {
  const most = Math.max(...values) * values.length;
  return most < 1.1 ? `nearly uniform (at most ${most.toFixed(2)} times)` : `times uniform, 1 is neutral; at most ${most.toFixed(1)} times (a weight of ${Math.max(...values).toFixed(3)})`;
};

function signedStrip(tokens, values) {
  const most = Math.max(1e-9, ...values.map(Math.abs));
  return h('div', { class: 'shaded' }, tokens.map((unit, i) => h('button', { style: `background:${colour(values[i] / most * 0.9)};color:${inkOn(values[i] / most * 0.9)}`, title: `${seen(unit)}: ${values[i].toFixed(4)}` }, seen(unit))));
}

function label(answer) {
  const names = Object.keys(answer.probabilities), at = names.indexOf(answer.label), weights = answer.attention.length ? mean(answer.attention) : [];
  return [h('h2', {}, 'Label'), h('p', { class: 'answer' }, answer.label), h('p', { class: 'row' }, 'confidence ', h('b', {}, percent(answer.probabilities[answer.label]))), bars(answer.probabilities),
    weights.length > 0 && [h('h2', {}, 'Attention'), h('p', { class: 'row' }, evenness(weights)), shaded(answer.tokens, weights)],
    answer.contributions && [h('h2', {}, `What each word adds to “${answer.label}”`), signedStrip(answer.tokens, answer.contributions.map(row => row[at]))]];
}

function match(answer) {
  const [question, reply] = [mean(answer.attention.question), mean(answer.attention.answer)];
  return h('section', { class: 'candidate' }, h('h2', {}, `score ${answer.score.toFixed(4)}`),
    h('div', { class: 'strip' }, h('span', {}, 'question'), h('div', {}, question.length ? [shaded(answer.question_tokens, question), evenness(question)] : answer.question), h('span', {}, 'answer'), h('div', {}, reply.length ? [shaded(answer.answer_tokens, reply), evenness(reply)] : answer.answer)),
    question.length > 0 && reply.length > 0 && h('details', {}, h('summary', {}, 'each pair of units (product of both weights)'), h('div', { class: 'wide' }, matrix(answer.answer_tokens, answer.question_tokens, question.map(q => reply.map(a => q * a))))));
}

function bag(answer) {
  const weights = mean(answer.attention), most = Math.max(...weights, 1e-9);
  return h('section', {}, h('h2', {}, `${answer.bag}: ${answer.label}`), bars(answer.probabilities),
    h('h3', {}, 'Weight of each row'), h('div', { class: 'bars' }, weights.map((w, i) => h('div', {}, h('span', {}, `row ${i + 1}`), h('i', { style: `width:${100 * w / most}%` }), h('span', {}, w.toFixed(3))))));
}

