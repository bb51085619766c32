// A matrix of weights: columns are read, rows are written. And the lines between the two.

import { colour, inkOn, s, seen } from './dom.js';

const CELL = 30;

// options: row (selected), onrow(row), signed (weights are differences), changed (set of rows), small (a thumbnail)
export function matrix(source, output, weights, options = {}) {
  const cell = options.small ? 7 : source.length > 60 ? 16 : CELL;
  const long = list => Math.max(1, ...list.map(unit => [...seen(unit)].length));
  const left = options.small ? 2 : Math.min(160, Math.max(66, 20 + 8 * long(output)));
  const top = options.small ? 2 : Math.min(130, 34 + (long(source) > 2 ? 7.5 * Math.min(12, long(source)) : 0));
  const slanted = long(source) > 2;
  const width = left + cell * source.length + 8, height = top + cell * output.length + 8;
  const most = options.signed ? Math.max(1e-9, ...weights.flat().map(Math.abs)) : 1;
  const short = text => [...text].length > 14 ? [...text].slice(0, 13).join('') + '…' : text;
  const svg = s('svg', { width, height, viewBox: `0 0 ${width} ${height}`, class: 'matrix', role: 'img', 'aria-label': options.label ?? 'weights: rows are written, columns are read' });
  svg.append(s('rect', { x: left, y: top, width: cell * source.length, height: cell * output.length, fill: colour(0) }));
  weights.forEach((row, i) => row.forEach((weight, j) => {
    const share = weight / most;
    // What is as pale as the ground is not drawn: a large matrix is mostly that.
    if (Math.abs(share) < 0.004) return;
    svg.append(s('rect', { x: left + j * cell, y: top + i * cell, width: cell - 1, height: cell - 1, fill: colour(share) },
      s('title', {}, `${seen(output[i])} ← ${seen(source[j])}: ${weight.toFixed(4)}`)));
    if (!options.small && cell >= CELL && Math.abs(weight) >= (options.signed ? 0.005 : 0.05)) {
      const text = options.signed ? `${weight < 0 ? '−' : ''}${Math.abs(weight).toFixed(2).slice(1)}` : weight >= 0.995 ? '1' : weight.toFixed(2).slice(1);
      svg.append(s('text', { x: left + j * cell + cell / 2 - 0.5, y: top + i * cell + cell / 2 + 4, 'text-anchor': 'middle', style: `font-size:11px;fill:${inkOn(share)}`, 'pointer-events': 'none' }, text));
    }
  }));
  if (options.small) return svg;
  svg.append(s('text', { x: left, y: 12, class: 'soft' }, 'reads →'), s('text', { x: 0, y: top - 6, class: 'soft' }, 'writes ↓'));
  source.forEach((unit, j) => {
    const x = left + j * cell + cell / 2;
    svg.append(s('text', slanted ? { x: x + 4, y: top - 6, transform: `rotate(-60 ${x + 4} ${top - 6})` } : { x, y: top - 7, 'text-anchor': 'middle' }, short(seen(unit))));
  });
  output.forEach((unit, i) => {
    const changed = options.changed?.has(i);
    svg.append(s('text', { x: left - 8, y: top + i * cell + cell / 2 + 4, 'text-anchor': 'end', style: changed ? 'fill:var(--mark);font-weight:bold' : '' }, short(seen(unit))));
    if (options.edited?.has(i)) svg.append(s('circle', { cx: left - 3, cy: top + i * cell + cell / 2, r: 2.5, style: 'fill:var(--mark)' }));
    if (!options.onrow) return;
    svg.append(s('rect', {
      x: 0, y: top + i * cell, width, height: cell, fill: 'transparent', tabindex: i === (options.row ?? 0) ? 0 : -1, role: 'button', 'data-row': i, style: 'cursor:pointer',
      'aria-label': `row ${i + 1}, ${seen(unit)}: ${row_words(source, weights[i])}`, onclick: () => options.onrow(i),
      onkeydown: event => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step) svg.querySelector(`[data-row="${i + step}"]`)?.focus();
        if (event.key === 'Enter' || event.key === ' ') options.onrow(i);
        if (step || event.key === 'Enter' || event.key === ' ') event.preventDefault();
      },
    }, s('title', {}, row_words(source, weights[i]))));
  });
  if (options.row != null && options.row < output.length) svg.append(s('rect', { x: 1, y: top + options.row * cell, width: width - 3, height: cell, class: 'at', 'pointer-events': 'none' }));
  return svg;
}

// The heaviest units of a row in words.
function row_words(source, row = []) {
  return row.map((w, j) => [w, j]).sort((a, b) => b[0] - a[0]).slice(0, 3).map(([w, j]) => `${seen(source[j])} ${w.toFixed(2)}`).join(', ');
}

// What is read above, what is written below, and a line for each weight worth one.
export function lines(source, output, weights) {
  const step = Math.max(26, 9 * Math.max(2, ...[...source, ...output].map(unit => Math.min(12, [...seen(unit)].length))));
  const width = step * Math.max(source.length, output.length) + 10, height = 130;
  const x = (list, i) => (i + 0.5) * width / list.length;
  const svg = s('svg', { width, height, viewBox: `0 0 ${width} ${height}`, class: 'lines', role: 'img', 'aria-label': 'lines from what is read to what is written' });
  weights.forEach((row, i) => row.forEach((weight, j) => {
    if (weight < 0.05) return;
    svg.append(s('path', { d: `M${x(source, j)} 26 C${x(source, j)} 70 ${x(output, i)} 60 ${x(output, i)} 104`, fill: 'none', stroke: 'var(--accent)', 'stroke-width': 4 * weight, 'stroke-opacity': 0.25 + 0.7 * weight },
      s('title', {}, `${seen(output[i])} ← ${seen(source[j])}: ${weight.toFixed(4)}`)));
  }));
  source.forEach((unit, j) => svg.append(s('text', { x: x(source, j), y: 18, 'text-anchor': 'middle' }, seen(unit))));
  output.forEach((unit, i) => svg.append(s('text', { x: x(output, i), y: 120, 'text-anchor': 'middle' }, seen(unit))));
  return svg;
}
