// The layers of a Transformer: every head of every layer small, on one scale; one of them, or the mean of a layer, large.

import { h } from './dom.js';
import { framed, matrix } from './matrix.js';
import { scale } from './scale.js';
import { change, searching, state } from './state.js';
import { predict } from './transport.js';
import { trust } from './trust.js';

const NAMES = { cross: 'cross-attention', encoder: 'encoder', decoder: 'decoder', rollout: 'rollout' };

// The views that a model has.
export const views = ({ layers }) => Object.keys(NAMES).filter(view => layers && (view === 'cross' || view === 'decoder' ? layers.decoder : layers.encoder) > 0);

export async function load(model, text) {
  const has = views(model), view = has.includes(state.inside) ? state.inside : has[0];
  const texts = model.task === 'match' ? text.split('\n').filter(line => line.trim()).slice(0, 1) : [text.replace(/\n/g, ' ')];
  const [answer] = await predict(model.name, texts, { layers: view, ...(model.task === 'seq2seq' && { options: searching() }) }, 'layers');
  return { answer, view, has };
}

export function show({ answer, view, has }) {
  const choose = h('div', { class: 'row', role: 'group', 'aria-label': 'which attention' }, has.map(name => h('button', { 'aria-pressed': String(name === view), 'data-inside': name, onclick: () => change({ inside: name, panel: null }) }, NAMES[name])));
  if (answer.error) return [choose, h('p', { class: 'down' }, answer.error)];
  if (!answer.layers.length) return [choose, h('p', {}, 'Nothing was answered: there are no layers to draw.')];
  return [choose, answer.layers.map((stack, number) => stacked(stack, view, number))];
}

// Position by position the mean of some heads; what is hidden in one is hidden in all.
const mean = panels => panels[0].weights.map((row, i) => row.map((weight, j) => weight === null ? null : panels.reduce((sum, panel) => sum + panel.weights[i][j], 0) / panels.length));

function stacked(stack, view, number) {
  const rows = { encoder: 'looks', rollout: 'arrives at' }[view] ?? 'writes';
  const all = stack.layers.flatMap((layer, l) => [
    ...layer.panels.map((panel, i) => ({ key: `${number}.${l}.${i}`, short: panel.name, name: [layer.name, panel.name].filter(Boolean).join(', '), weights: panel.weights, layer: l })),
    ...(layer.panels.length > 1 ? [{ key: `${number}.${l}.mean`, short: 'mean', name: `${layer.name}, mean of ${layer.panels.length} heads`, weights: mean(layer.panels), layer: l }] : []),
  ]);
  const on = scale(all.flatMap(panel => panel.weights), view === 'rollout' ? 'stretched' : 'unit');
  const chosen = all.find(panel => panel.key === state.panel) ?? all[0];
  const small = Math.max(2, Math.min(8, 150 / stack.source.length));
  const thumbnail = panel => h('button', { class: 'thumbnail', 'aria-pressed': String(panel === chosen), 'data-panel': panel.key, 'aria-label': panel.name, onclick: () => change({ panel: panel.key }) },
    matrix(stack.source, stack.output, panel.weights, { small, on, label: panel.name }), h('br'), panel.short);
  const hidden = chosen.weights.some(row => row.includes(null));
  return h('section', { class: 'layers' },
    h('p', { class: 'answer', dir: 'auto' }, stack.text || '(nothing)'), h('p', { class: 'row legend' }, `${stack.view}; ${on.legend}.${hidden ? ' Grey is hidden: a position does not see those after it.' : ''}`),
    all.length > 1 && stack.layers.map((layer, l) => [h('h3', {}, layer.name), h('div', { class: 'row heads' }, all.filter(panel => panel.layer === l).map(thumbnail))]),
    h('h2', {}, chosen.name), framed(stack.source, stack.output, chosen.weights, { on, rows, label: chosen.name }), trust(null));
}
