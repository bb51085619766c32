// Two models side by side on the same text, and the difference of their weights.

import { h } from './dom.js';
import { matrix } from './matrix.js';
import * as reads from './reads.js';
import { scale } from './scale.js';
import { searching } from './state.js';
import { predict } from './transport.js';
import { trust } from './trust.js';
import { align, compare } from './words.js';

export async function load(one, two, text) {
  if (one.task !== 'seq2seq') {
    const [a, b] = await Promise.all([reads.load(one, text, 'beside 1', false), reads.load(two, text, 'beside 2', false)]);
    return { one: a.answers, two: b.answers };
  }
  const options = searching();
  const [[a], [b]] = await Promise.all([predict(one.name, [text], { options }, 'beside 1'), predict(two.name, [text], { options }, 'beside 2')]);
  return { one: a, two: b };
}

// Weights of the same units, one less the other.
function difference(a, b, names) {
  const units = a.tokens ?? a.answer_tokens ?? reads.mean(a.attention).map((_, i) => `row ${i + 1}`), others = b.tokens ?? b.answer_tokens ?? units;
  const of = answer => reads.mean(answer.attention.answer ?? answer.attention), [one, two] = [of(a), of(b)];
  if (a.error || b.error || units.join('\0') !== others.join('\0') || one.length !== two.length || !one.length) return null;
  return [h('h2', {}, `Difference of the weights: ${names[1]} less ${names[0]}`), h('div', { class: 'wide difference' }, matrix(units, ['difference'], [two.map((w, i) => w - one[i])], { signed: true, label: 'difference of weights' }))];
}

export function show({ one, two }, names) {
  if (Array.isArray(one)) {
    return [h('div', { class: 'panels' }, [one, two].map((answers, i) => h('section', {}, h('h2', { class: 'name' }, names[i]), reads.show({ answers })))), one[0] && two[0] && one.length === 1 && [compare(one[0], two[0]), difference(one[0], two[0], names)]];
  }
  if (one.error || two.error) return h('p', { class: 'down' }, one.error ?? two.error);
  const side = (answer, i) => {
    const best = answer.hypotheses[0];
    return h('section', {}, h('h2', { class: 'name' }, names[i]), h('p', { class: 'answer' }, best?.text || '(nothing)'), h('p', { class: 'row' }, best ? `log-probability ${best.log_prob.toFixed(3)}` : ''),
      best?.attention.length > 0 && [h('div', { class: 'wide' }, matrix(answer.source_tokens, best.tokens, best.attention)), h('p', { class: 'row legend' }, scale(best.attention, 'unit').legend), trust(best.confidence ?? Math.exp(best.log_prob))]);
  };
  const [a, b] = [one.hypotheses[0], two.hypotheses[0]];
  const same = a && b && one.source_tokens.join('\0') === two.source_tokens.join('\0');
  const rows = same ? align(a.tokens, b.tokens) : [];
  return [h('div', { class: 'panels' }, side(one, 0), side(two, 1)),
    rows.length > 0 && a.attention.length > 0 && b.attention.length > 0 ? [h('h2', {}, `Difference: ${names[1]} less ${names[0]}`), h('div', { class: 'wide difference' },
      matrix(one.source_tokens, rows.map(([i]) => a.tokens[i]), rows.map(([i, k]) => b.attention[k].map((w, j) => w - a.attention[i][j])), { signed: true, label: 'difference of weights' }))]
      : h('p', {}, 'The two do not read the same units, or write none in common: there is no difference to draw.')];
}
