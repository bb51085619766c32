// The three scales of weights. Whatever is drawn says which one it is on.

import { state } from './state.js';

export const SCALES = { unit: '0 to 1', stretched: 'stretched', uniform: 'times uniform' };

// The largest size among rows of numbers; there may be more of them than a function takes.
export const largest = rows => rows.reduce((most, row) => row.reduce((most, x) => Math.max(most, Math.abs(x)), most), 1e-9);

// How weights are drawn: `usual` is the scale unless another was chosen. `share` is from -1 to 1 for colours, `number` what stands in a cell, `legend` says what both mean.
export function scale(weights, usual) {
  const kind = state.scale ?? usual, n = weights[0]?.length ?? 1, most = largest(weights);
  const short = w => w >= 0.995 ? '1' : w.toFixed(2).slice(1);
  if (kind === 'uniform') {
    const even = most * n < 1.1 ? `nearly uniform (at most ${(most * n).toFixed(2)} times)` : `at most ${(most * n).toFixed(1)} times (a weight of ${most.toFixed(3)})`;
    // Less and more part into two colours, by the logarithm, which end at 1/8 and 8 in every picture.
    return { kind, share: w => Math.max(-1, Math.min(1, Math.log2(Math.max(w * n, 1e-9)) / 3)), number: w => w * n >= 9.95 ? (w * n).toFixed(0) : (w * n).toFixed(1), legend: `times uniform: 1 is neutral, blue is more, red is less; ${even}`, shows: w => w * n >= 0.05 };
  }
  if (kind === 'stretched') return { kind, share: w => w / most, number: short, legend: `stretched: from 0 to the largest weight, ${most.toFixed(3)}`, shows: w => w >= 0.05 * most && w >= 0.005 };
  return { kind, share: w => w, number: short, legend: most < 0.1 ? `weights from 0 to 1, none above ${most.toFixed(3)} (times uniform shows more)` : 'weights from 0 to 1', shows: w => w >= 0.05 };
}
