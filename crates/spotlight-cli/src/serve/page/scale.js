// The three scales of weights. Whatever is drawn says which one it is on.

import { state } from './state.js';

export const SCALES = { unit: '0 to 1', stretched: 'stretched', uniform: 'times uniform' };

// The largest size among rows of numbers; there may be more of them than a function takes.
export const largest = rows => rows.reduce((most, row) => row.reduce((most, x) => Math.max(most, Math.abs(x)), most), 1e-9);

// The positions that a row sees; those that are hidden from it are null.
export const sees = row => row.reduce((count, weight) => count + (weight !== null), 0);

// How weights are drawn: `usual` is the scale unless another was chosen. `share` is from -1 to 1 for colours, `number` what stands in a cell, `legend` says what both mean.
// Each takes a weight and the positions that its row sees: all, unless some are hidden.
export function scale(weights, usual) {
  const kind = state.scale ?? usual, all = weights[0]?.length ?? 1, most = largest(weights);
  const short = w => w >= 0.995 ? '1' : w.toFixed(2).slice(1);
  if (kind === 'uniform') {
    const times = weights.reduce((most, row) => Math.max(most, largest([row]) * sees(row)), 0);
    const even = times < 1.1 ? `nearly uniform (at most ${times.toFixed(2)} times)` : `at most ${times.toFixed(1)} times (the largest weight is ${most.toFixed(3)})`;
    // Less and more part into two colours, by the logarithm, which end at 1/8 and 8 in every picture.
    return { kind, share: (w, n = all) => Math.max(-1, Math.min(1, Math.log2(Math.max(w * n, 1e-9)) / 3)), number: (w, n = all) => w * n >= 9.95 ? (w * n).toFixed(0) : (w * n).toFixed(1), legend: `times uniform: 1 is neutral, blue is more, red is less; ${even}`, shows: (w, n = all) => w * n >= 0.05 };
  }
  if (kind === 'stretched') return { kind, share: w => w / most, number: short, legend: `stretched: from 0 to the largest weight, ${most.toFixed(3)}`, shows: w => w >= 0.05 * most && w >= 0.005 };
  return { kind, share: w => w, number: short, legend: most < 0.1 ? `weights from 0 to 1, none above ${most.toFixed(3)} (times uniform shows more)` : 'weights from 0 to 1', shows: w => w >= 0.05 };
}
