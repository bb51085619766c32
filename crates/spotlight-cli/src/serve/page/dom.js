// Making elements. Texts of users and models go in as text, never as markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name === 'style') element.style.cssText = value;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== 'string') element[name] = value;
    else if (value !== false && value != null) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(9).filter(child => child != null && child !== false));
  return element;
}

export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
export const s = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), Object.fromEntries(
  Object.entries(properties ?? {}).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value])), children);

// A unit as it can be seen: a space is no gap.
export const seen = unit => unit === null ? 'end' : unit.replace(/ /g, '␣').replace(/\t/g, '⇥') || '∅';

// Whether a text is read from right to left: most of its units are.
export const backwards = units => units.filter(unit => unit && /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(unit)).length * 2 > units.length;

export const percent = p => p >= 0.9995 ? '100%' : p >= 0.0995 ? `${(100 * p).toFixed(0)}%` : p >= 0.001 ? `${(100 * p).toFixed(1)}%` : p > 0 ? '<0.1%' : '0%';

export const signed = x => `${x < 0 ? '−' : '+'}${Math.abs(x).toFixed(3)}`;

export const dark = () => matchMedia('(prefers-color-scheme: dark)').matches;

// The colour of a weight as a share of the largest there can be; below zero for differences.
export function colour(share) {
  const [empty, full] = dark() ? [[30, 32, 38], [250, 204, 90]] : [[247, 248, 250], [16, 66, 130]];
  const against = dark() ? [110, 160, 255] : [196, 54, 30];
  const end = share < 0 ? against : full;
  const t = Math.min(1, Math.abs(share)) ** 0.8;
  return `rgb(${empty.map((from, i) => Math.round(from + (end[i] - from) * t)).join(',')})`;
}

// Ink that can be read on that colour.
export const inkOn = share => (Math.abs(share) > 0.45) !== dark() ? '#ffffff' : dark() && Math.abs(share) <= 0.45 ? '#e9eaee' : '#1d1e22';
