// The paths of a search: those that were kept, those that ended, and those that lost.

import { percent, s, seen } from './dom.js';

const STEP = 74, LINE = 19, MOST = 600;

const WHY = { kept: 'went on', ended: 'is the end of an answer', longest: 'as long as an answer may be', lost: 'lost: others filled the beam' };

export function tree(answer) {
  const thoughts = answer.thoughts.slice(0, MOST);
  const children = thoughts.map(() => []), roots = [];
  thoughts.forEach((t, i) => (t.before === null ? roots : children[t.before] ?? []).push(i));
  // Paths that went on first, then the best of those that did not, as far as they had a chance.
  const lost = i => thoughts[i].fate === 'lost';
  const order = list => {
    list.sort((a, b) => lost(a) - lost(b) || thoughts[b].total - thoughts[a].total);
    const gone = list.filter(lost).filter(i => thoughts[i].log_prob > Math.log(0.02)).slice(0, 2);
    return [...list.filter(i => !lost(i)), ...gone];
  };
  const best = Math.max(...thoughts.map(t => t.score ?? -Infinity));
  const places = [];
  let line = 0, deepest = 0;
  const lay = (list, depth) => order(list).forEach((i, place) => {
    if (place) line++;
    places[i] = { x: 8 + depth * STEP, y: 14 + line * LINE };
    deepest = Math.max(deepest, depth);
    lay(children[i], depth + 1);
  });
  lay(roots, 0);
  const width = 90 + (deepest + 1) * STEP, height = 24 + (line + 1) * LINE;
  const svg = s('svg', { width, height, viewBox: `0 0 ${width} ${height}`, class: 'tree', role: 'img', 'aria-label': 'paths of the search' });
  const won = new Set();
  for (let i = thoughts.findIndex(t => t.score === best); i != null && i >= 0; i = thoughts[i].before) won.add(i);
  thoughts.forEach((t, i) => {
    const at = places[i];
    if (!at) return;
    const from = places[t.before];
    const ink = won.has(i) ? 'var(--accent)' : t.fate === 'lost' ? 'var(--soft)' : 'var(--ink)';
    if (from) svg.append(s('path', { d: `M${from.x + 44} ${from.y} C${from.x + 60} ${from.y} ${at.x - 14} ${at.y} ${at.x - 3} ${at.y}`, fill: 'none', stroke: ink, 'stroke-opacity': t.fate === 'lost' ? 0.35 : 0.9, 'stroke-width': won.has(i) ? 2 : 1 }));
    const score = t.score == null ? '' : `  ${t.score.toFixed(2)}`;
    svg.append(s('text', { x: at.x, y: at.y + 4, class: t.fate, style: `fill:${ink};${t.fate === 'lost' ? 'opacity:.7;' : ''}${won.has(i) ? 'font-weight:bold' : ''}` },
      `${seen(t.token)} ${percent(Math.exp(t.log_prob))}${score}`, s('title', {}, `${seen(t.token)}: ${WHY[t.fate]}. Log-probability up to here ${t.total.toFixed(3)}${t.score == null ? '' : `, ranked by ${t.score.toFixed(3)}${t.score === best ? ', the best' : ''}`}`)));
  });
  return svg;
}
