// A matrix of weights: columns are read, rows are written. And the lines between the two.

import { backwards, colour, h, inkOn, s, seen } from './dom.js';
import { largest, scale, sees } from './scale.js';
import { drag, dragged, tip, untip } from './tip.js';

const CELL = 30, MANY = 4000, HIDDEN = '#9ca0aa';
// The column that the keyboard has reached.
let column = 0;

// options: row (selected), onrow(row), onweight(row, column, weight), signed (weights are differences), changed (set of rows), small (pixels of a cell of a thumbnail), on (a scale shared with others), rows (what the rows do)
// A weight that is null is hidden: the row does not see that column.
export function matrix(source, output, weights, options = {}) {
  const cell = options.small ?? (source.length > 60 ? 16 : CELL), turned = backwards(source);
  const long = list => Math.max(1, ...list.map(unit => [...seen(unit)].length));
  const left = options.small ? 1 : Math.min(160, Math.max(66, 20 + 8 * long(output)));
  const top = options.small ? 1 : Math.min(130, 34 + (long(source) > 2 ? 7.5 * Math.min(12, long(source)) : 0));
  const slanted = long(source) > 2;
  // Where a column stands: texts that are read from right to left run so.
  const x = j => left + (turned ? source.length - 1 - j : j) * cell;
  const width = left + cell * source.length + 8, height = top + cell * output.length + 8;
  const most = largest(weights), on = options.on ?? scale(weights, 'unit');
  const short = text => [...text].length > 14 ? [...text].slice(0, 13).join('') + '…' : text;
  const svg = s('svg', { width, height, viewBox: `0 0 ${width} ${height}`, class: 'matrix', role: 'img', 'aria-label': options.label ?? 'weights: rows are written, columns are read' });
  svg.append(s('rect', { x: left, y: top, width: cell * source.length, height: cell * output.length, fill: colour(0) }));
  // Of very many cells those of one shade are one shape: a browser draws a thousand shapes at once, not a hundred thousand.
  const many = weights.length * source.length > MANY, shades = new Map(), size = cell - (cell > 4);
  weights.forEach((row, i) => row.forEach((weight, j) => {
    const hidden = weight === null, among = sees(row), share = hidden ? 0 : options.signed ? weight / most : on.share(weight, among);
    // What is as pale as the ground is not drawn: a large matrix is mostly that.
    if (!hidden && Math.abs(share) < 0.004) return;
    if (many) {
      const shade = hidden ? HIDDEN : Math.round(share * 96) / 96;
      shades.set(shade, `${shades.get(shade) ?? ''}M${x(j)} ${top + i * cell}h${size}v${size}h${-size}z`);
      return;
    }
    svg.append(s('rect', { x: x(j), y: top + i * cell, width: size, height: size, fill: hidden ? HIDDEN : colour(share) },
      s('title', {}, `${seen(output[i])} ← ${seen(source[j])}: ${hidden ? 'hidden' : weight.toFixed(4)}`)));
    if (!hidden && !options.small && cell >= CELL && (options.signed ? Math.abs(weight) >= 0.005 : on.shows(weight, among))) {
      const text = options.signed ? `${weight < 0 ? '−' : ''}${Math.abs(weight) < 1 ? Math.abs(weight).toFixed(2).slice(1) : Math.abs(weight).toFixed(1)}` : on.number(weight, among);
      svg.append(s('text', { x: x(j) + cell / 2 - 0.5, y: top + i * cell + cell / 2 + 4, 'text-anchor': 'middle', style: `font-size:11px;fill:${inkOn(share)}`, 'pointer-events': 'none' }, text));
    }
  }));
  shades.forEach((d, shade) => svg.append(s('path', { d, fill: shade === HIDDEN ? HIDDEN : colour(shade) })));
  if (options.small) return svg;
  // The cell under a pointer, told beside it.
  const at = event => {
    const box = svg.getBoundingClientRect(), i = Math.floor((event.clientY - box.top - top) / cell), along = Math.floor((event.clientX - box.left - left) / cell), j = turned ? source.length - 1 - along : along;
    return weights[i]?.[j] === undefined ? null : { i, j, weight: weights[i][j], name: `${seen(output[i])} ← ${seen(source[j])}` };
  };
  const tell = event => {
    const found = at(event);
    if (!found) return untip();
    if (found.weight === null) return tip(event, `${found.name}: hidden, it comes later`);
    tip(event, `${found.name}: ${found.weight.toFixed(4)}${options.signed ? '' : `, ${(found.weight * sees(weights[found.i])).toFixed(2)} times uniform`}`);
  };
  svg.addEventListener('pointermove', tell);
  svg.addEventListener('pointerdown', event => {
    tell(event);
    const found = at(event);
    // A finger scrolls, unless the row was chosen before.
    if (!found || !options.onweight || event.button !== 0 || (event.pointerType === 'touch' && found.i !== options.row)) return;
    drag(event, found.weight, found.name, weight => options.onweight(found.i, found.j, weight));
  });
  svg.addEventListener('pointerleave', event => { if (event.pointerType !== 'touch') untip(); });
  svg.append(s('text', { x: left, y: 12, class: 'soft' }, turned ? '← reads' : 'reads →'), s('text', { x: 0, y: top - 6, class: 'soft' }, `${options.rows ?? 'writes'} ↓`));
  source.forEach((unit, j) => {
    const middle = x(j) + cell / 2;
    svg.append(s('text', slanted ? { x: middle + 4, y: top - 6, transform: `rotate(-60 ${middle + 4} ${top - 6})` } : { x: middle, y: top - 7, 'text-anchor': 'middle' }, short(seen(unit))));
  });
  output.forEach((unit, i) => {
    const changed = options.changed?.has(i);
    svg.append(s('text', { x: left - 8, y: top + i * cell + cell / 2 + 4, 'text-anchor': 'end', style: changed ? 'fill:var(--mark);font-weight:bold' : '' }, short(seen(unit))));
    if (options.edited?.has(i)) svg.append(s('circle', { cx: left - 3, cy: top + i * cell + cell / 2, r: 2.5, style: 'fill:var(--mark)' }));
    if (!options.onrow) return;
    svg.append(s('rect', {
      x: 0, y: top + i * cell, width, height: cell, fill: 'transparent', tabindex: i === (options.row ?? 0) ? 0 : -1, role: 'button', 'data-row': i, style: i === options.row && options.onweight ? 'cursor:ns-resize;touch-action:none' : 'cursor:pointer',
      'aria-label': `row ${i + 1}, ${seen(unit)}: ${row_words(source, weights[i])}`, onclick: () => { if (!dragged()) options.onrow(i); },
      onkeydown: event => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], aside = { ArrowRight: turned ? -1 : 1, ArrowLeft: turned ? 1 : -1 }[event.key], more = { '+': 0.05, '-': -0.05 }[event.key];
        if (step) svg.querySelector(`[data-row="${i + step}"]`)?.focus();
        if (event.key === 'Enter' || event.key === ' ') options.onrow(i);
        if (aside) {
          column = Math.max(0, Math.min(source.length - 1, column + aside));
          place();
        }
        if (more && options.onweight && weights[i]) options.onweight(i, Math.min(column, source.length - 1), Math.max(0, Math.min(1, weights[i][column] + more)));
        if (step || aside || more || event.key === 'Enter' || event.key === ' ') event.preventDefault();
      },
    }));
  });
  // The cell that + and - change, of the row that is chosen.
  const cursor = s('rect', { width: cell, height: cell, class: 'cursor', 'pointer-events': 'none', visibility: 'hidden' });
  const place = () => {
    const row = Number(document.activeElement?.dataset?.row ?? options.row);
    cursor.setAttribute('x', x(Math.min(column, source.length - 1)));
    cursor.setAttribute('y', top + row * cell);
    cursor.setAttribute('visibility', 'visible');
  };
  if (options.onweight) svg.append(cursor);
  if (options.row != null && options.row < output.length) svg.append(s('rect', { x: 1, y: top + options.row * cell, width: width - 3, height: cell, class: 'at', 'pointer-events': 'none' }));
  return svg;
}

// A matrix in a frame that scrolls; above one that is wider than a screen stands a small map of the whole, and a click there goes to the place.
export function framed(source, output, weights, options = {}) {
  const drawn = matrix(source, output, weights, options), frame = h('div', { class: `wide ${options.frame ?? ''}` }, drawn);
  if (source.length <= 60) return frame;
  const map = matrix(source, output, weights, { small: Math.max(1, 560 / source.length), signed: options.signed, on: options.on, label: 'map of the whole' });
  map.classList.add('map');
  map.addEventListener('click', event => { const box = map.getBoundingClientRect(); frame.scrollLeft = (event.clientX - box.left) / box.width * frame.scrollWidth - frame.clientWidth / 2; });
  return [map, frame];
}

// The heaviest units of a row in words.
function row_words(source, row = []) {
  return row.map((w, j) => [w, j]).sort((a, b) => b[0] - a[0]).slice(0, 3).map(([w, j]) => `${seen(source[j])} ${w.toFixed(2)}`).join(', ');
}

// What is read above, what is written below, and a line for each weight worth one.
export function lines(source, output, weights) {
  const step = Math.max(26, 9 * Math.max(2, ...[...source, ...output].map(unit => Math.min(12, [...seen(unit)].length))));
  const width = step * Math.max(source.length, output.length) + 10, height = 130;
  const turned = new Map([[source, backwards(source)], [output, backwards(output)]]);
  const x = (list, i) => ((turned.get(list) ? list.length - 1 - i : i) + 0.5) * width / list.length;
  const svg = s('svg', { width, height, viewBox: `0 0 ${width} ${height}`, class: 'lines', role: 'img', 'aria-label': 'lines from what is read to what is written' });
  const line = (weight, i, j) => {
    svg.append(s('path', { d: `M${x(source, j)} 26 C${x(source, j)} 70 ${x(output, i)} 60 ${x(output, i)} 104`, fill: 'none', stroke: 'var(--accent)', 'stroke-width': 4 * weight, 'stroke-opacity': 0.25 + 0.7 * weight },
      s('title', {}, `${seen(output[i])} ← ${seen(source[j])}: ${weight.toFixed(4)}`)));
  };
  weights.forEach((row, i) => {
    // Where all weights of a row are small, the largest has a line all the same.
    const least = Math.min(0.05, largest([row]));
    row.forEach((weight, j) => { if (weight >= least) line(weight, i, j); });
  });
  source.forEach((unit, j) => svg.append(s('text', { x: x(source, j), y: 18, 'text-anchor': 'middle' }, seen(unit))));
  output.forEach((unit, i) => svg.append(s('text', { x: x(output, i), y: 120, 'text-anchor': 'middle' }, seen(unit))));
  return svg;
}
