// The page: what is typed, which view, and who draws it.

import * as beside from './beside.js';
import { h } from './dom.js';
import * as layers from './layers.js';
import * as reads from './reads.js';
import * as rows from './rows.js';
import * as save from './save.js';
import { SCALES } from './scale.js';
import { change, onChange, restore, state } from './state.js';
import { audit, cancelled, models } from './transport.js';
import { judged } from './trust.js';
import * as words from './words.js';
import * as writes from './writes.js';

const $ = id => document.getElementById(id);
let shelf = [], limits = {}, shown = null, verdict = null;

const model = () => shelf.find(model => model.name === state.model) ?? shelf[0];
const VIEWS = { look: 'look', layers: 'layers', words: 'change words', rows: 'rows of a file', beside: 'side by side' };

// Only a Transformer has layers to look into.
const viewsOf = model => Object.keys(VIEWS).filter(view => view !== 'layers' || model.layers);

function say(text, bad) {
  $('status').textContent = text;
  $('status').classList.toggle('bad', Boolean(bad));
}

const fail = error => { if (!cancelled(error)) say(error.message, true); };

// The view says of itself when something is still to come.
let awaited = 0;
async function awaiting(work) {
  const more = count => $('view').setAttribute('aria-busy', String((awaited += count) > 0));
  more(1);
  try { await work; } finally { more(-1); }
}

const draw = () => awaiting(drawn());

let turn = 0;
async function drawn() {
  const mine = ++turn, now = model(), begun = performance.now(), text = state.text;
  try {
    let parts;
    if (state.view === 'rows') parts = rows.show(now, limits.texts, draw, fail);
    else if (!text.trim()) parts = [h('p', {}, 'Type something to read.')];
    else if (state.view === 'layers') parts = layers.show(shown = await layers.load(now, text));
    else if (state.view === 'words') parts = words.show(shown = await words.load(now, text));
    else if (state.view === 'beside') {
      const other = shelf.find(model => model.name === state.other);
      parts = other ? beside.show(shown = await beside.load(now, other, text), [now.name, other.name]) : [h('p', {}, 'Choose the model beside it, above.')];
    } else if (now.task === 'seq2seq') parts = writes.show(shown = await writes.load(now.name, text), now.name);
    else parts = reads.show(shown = await reads.load(now, text), now);
    // A newer drawing is under way: this one is late.
    if (mine !== turn) return;
    put(parts);
    if (state.view !== 'rows') say(text.trim() ? `${Math.round(performance.now() - begun)} ms` : '');
  } catch (error) {
    if (mine === turn) fail(error);
  }
}

// Draws anew and leaves the focus where it was.
function put(parts) {
  const view = $('view'), at = document.activeElement, inside = view.contains(at);
  const place = inside ? [...view.querySelectorAll('button, input, select, textarea, [tabindex]')].indexOf(at) : -1;
  const mark = inside ? ['data-row', 'data-column', 'data-unit', 'data-sort'].filter(name => at.hasAttribute(name)).map(name => `[${name}="${at.getAttribute(name)}"]`)[0] : null;
  view.replaceChildren(...[parts].flat(9).filter(part => part != null && part !== false));
  if (inside) (mark ? view.querySelector(mark) : view.querySelectorAll('button, input, select, textarea, [tabindex]')[place])?.focus({ preventScroll: true });
}

function controls() {
  const now = model();
  $('model').replaceChildren(...shelf.map(model => h('option', { value: model.name }, `${model.name} (${model.task})`)));
  $('model').value = now.name;
  $('other').replaceChildren(h('option', { value: '' }, 'none'), ...shelf.filter(model => model.task === now.task && model.name !== now.name).map(model => h('option', { value: model.name }, model.name)));
  $('other').value = state.other;
  $('beam').value = state.beam ?? '';
  $('beam').max = limits.beam;
  $('beam-label').hidden = now.task !== 'seq2seq';
  const views = viewsOf(now);
  $('views').replaceChildren(...views.map(view => h('button', { 'aria-current': String(state.view === view), 'data-view': view, onclick: () => change({ view }) }, VIEWS[view])));
  $('text-label').textContent = { match: 'A question and an answer a line, apart by a tab', bags: 'Rows of a CSV file, with its header' }[now.task] ?? 'Type something';
  if (document.activeElement !== $('text') || $('text').value === '') $('text').value = state.text;
  $('text').rows = now.task === 'match' || now.task === 'bags' ? 5 : 2;
  $('scale').value = state.scale ?? '';
  judged(verdict ?? (now.audited ? '' : 'This model’s attention has not been audited.'));
}

const judge = () => awaiting(audited());

// What an audit found, in its own words.
async function audited() {
  verdict = null;
  const now = model();
  const found = now.audited ? (await audit(now.name))?.verdict : null;
  if (found && model() === now) verdict = typeof found === 'string' ? `Audit: ${found}` : `Audit: ${found.grade}. ${found.reason ?? ''}`;
  controls();
}

// The address, as far as there is such a thing here.
function believe() {
  restore();
  if (!shelf.some(model => model.name === state.model)) state.model = shelf[0].name;
  if (!viewsOf(model()).includes(state.view)) state.view = 'look';
}

async function start() {
  ({ models: shelf, limits } = await models());
  believe();
  if (!location.hash.includes('text=')) state.text = model().example;
  onChange(changes => {
    if ('model' in changes && !location.hash.includes('text=')) change({ text: model().example }, { quiet: true });
    if ('model' in changes && shelf.find(other => other.name === state.other)?.task !== model().task) state.other = '';
    controls();
    draw();
    if ('model' in changes) judge();
  });
  $('text').addEventListener('input', () => change({ text: $('text').value }));
  $('model').addEventListener('change', () => change({ model: $('model').value, text: '', view: 'look' }));
  $('other').addEventListener('change', () => change({ other: $('other').value, view: $('other').value ? 'beside' : 'look' }));
  $('scale').append(...Object.entries(SCALES).map(([value, name]) => h('option', { value }, name)));
  $('scale').addEventListener('change', () => change({ scale: $('scale').value || null }));
  $('beam').addEventListener('input', () => { if ($('beam').checkValidity()) change({ beam: Number($('beam').value) || null }); });
  const nothing = done => { if (!done) say('This view has no drawing to save.', true); };
  $('save-svg').addEventListener('click', () => nothing(save.svg()));
  $('save-png').addEventListener('click', async () => nothing(await save.png()));
  $('save-json').addEventListener('click', () => save.json(shown));
  $('save-page').addEventListener('click', () => save.page());
  addEventListener('hashchange', () => { believe(); $('text').value = state.text; controls(); draw(); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  controls();
  $('text').value = state.text;
  await draw();
  judge();
}

start().catch(fail);
