// What the page shows. All of it is in the address, so that a link brings it back.

const fresh = () => ({
  model: null, // its name
  other: '', // the model beside it
  view: 'look',
  text: '',
  variant: null, // the text with a word struck, replaced or moved
  beam: null, // hypotheses of a search; null for as many as the model has by itself
  scale: null, // of weights; null for the usual one of each picture
  force: [], // units the answer begins with
  edits: [], // {step, weights}: rows of attention put in by hand
  off: [], // heads switched off
  row: null, // the row that is selected
  inside: '', // which attention of a Transformer
  panel: null, // its layer and head that stands large
});
export const state = fresh();

// How the model is asked to search.
export const searching = () => state.beam ? { beam: state.beam } : {};

const listeners = [];
export const onChange = listener => listeners.push(listener);

// Changes the state; what hangs on a text goes with it.
export function change(changes, { quiet } = {}) {
  const before = { ...state };
  Object.assign(state, changes);
  const other = name => name in changes && changes[name] !== before[name];
  if (other('text') || other('model')) Object.assign(state, { force: [], edits: [], row: null, variant: null, off: [], ...pick(changes) });
  history.replaceState(null, '', address());
  if (!quiet) listeners.forEach(listener => listener(changes));
}

const pick = changes => Object.fromEntries(['force', 'edits', 'row', 'variant', 'off'].filter(n => n in changes).map(n => [n, changes[n]]));

export function address() {
  const query = new URLSearchParams();
  for (const name of ['model', 'other', 'view', 'text', 'variant', 'inside', 'panel']) if (state[name]) query.set(name, state[name]);
  if (state.beam) query.set('beam', state.beam);
  if (state.scale) query.set('scale', state.scale);
  if (state.row !== null) query.set('row', state.row);
  for (const name of ['force', 'edits', 'off']) if (state[name].length) query.set(name, JSON.stringify(state[name]));
  return `#${query}`;
}

// Reads the address. What makes no sense there is left out.
export function restore() {
  const query = new URLSearchParams(location.hash.slice(1));
  Object.assign(state, fresh());
  for (const name of ['model', 'other', 'view', 'text', 'variant', 'inside', 'panel']) if (query.has(name)) state[name] = query.get(name);
  const number = name => Number.isInteger(Number(query.get(name))) && query.has(name) ? Number(query.get(name)) : null;
  state.beam = query.has('beam') ? Math.max(1, number('beam') ?? 1) : null;
  state.row = number('row');
  if (['unit', 'stretched', 'uniform'].includes(query.get('scale'))) state.scale = query.get('scale');
  const list = (name, good) => {
    try {
      const value = JSON.parse(query.get(name) ?? '[]');
      if (Array.isArray(value) && value.every(good)) state[name] = value;
    } catch { /* not a list */ }
  };
  list('force', unit => typeof unit === 'string');
  list('off', head => Number.isInteger(head));
  list('edits', edit => Number.isInteger(edit?.step) && Array.isArray(edit.weights) && edit.weights.every(w => typeof w === 'number'));
}
