// The rows of a file: how far each answer is from what is right. The file is read in the page and sent in parts.

import { h, percent, seen } from './dom.js';
import { change, searching } from './state.js';
import { predict } from './transport.js';

const found = { model: null, rows: [], sort: 'loss', down: true, filter: null, shown: 100 };

const pair = (gold, answer) => `${gold} → ${answer}`;

const entropy = row => -row.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0);

// Insertions, deletions and substitutions; and which units were taken for which.
export function distance(a, b) {
  const table = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => i && j ? 0 : i + j));
  for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++) table[i][j] = Math.min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] !== b[j - 1]));
  const taken = [];
  for (let i = a.length, j = b.length; i || j;) {
    if (i && j && table[i][j] === table[i - 1][j - 1] + (a[i - 1] !== b[j - 1])) { i--; j--; if (a[i] !== b[j]) taken.push(pair(seen(a[i]), seen(b[j]))); }
    else if (i && table[i][j] === table[i - 1][j] + 1) taken.push(pair(seen(a[--i]), '(left out)'));
    else taken.push(pair('(nothing)', seen(b[--j])));
  }
  return { edits: table[a.length][b.length], taken };
}

// What a model would pay for saying this, were its scores of candidates probabilities.
const shares = scores => { const most = Math.max(...scores), all = scores.map(x => Math.exp(x - most)), sum = all.reduce((a, b) => a + b, 0); return all.map(x => x / sum); };

// Candidates, question by question: loss is that of the right ones among all, distance how many stand on the wrong side.
async function candidates(model, rows, limit, again) {
  const groups = [];
  for (const row of rows) groups.at(-1)?.[0][0] === row[0] ? groups.at(-1).push(row) : groups.push([row]);
  for (const group of groups) {
    const answers = (await predict(model.name, group.slice(0, limit).map(([question, answer]) => `${question}\t${answer ?? ''}`), { views: false }, 'rows')).filter(answer => !answer.error);
    const share = shares(answers.map(answer => answer.score)), right = answer => group.find(row => row[1] === answer.answer)?.[2]?.trim() === '1';
    answers.forEach((answer, i) => {
      const gold = right(answer) ? 'right' : 'wrong', said = i < answers.filter(right).length ? 'right' : 'wrong', others = answers.filter((other, k) => right(other) !== right(answer) && (right(answer) ? k < i : k > i)).length;
      const weights = answer.attention.answer, row = Array.isArray(weights[0]) ? weights[0] : weights;
      found.rows.push({ text: `${answer.question}\t${answer.answer}`, gold, answer: said, loss: -Math.log(Math.max(right(answer) ? share[i] : 1 - share[i], 1e-12)), distance: others, taken: [pair(gold, said)], entropy: entropy(row), confidence: share[i] });
    });
    again();
  }
}

// Bags of a file with a header whose first columns are label and bag.
async function bags(model, lines, again) {
  const cells = lines.map(line => line.split(',')), [header] = lines;
  const answers = await predict(model.name, lines, {}, 'rows');
  for (const answer of answers) {
    const own = lines.slice(1).filter((_, i) => cells[i + 1][1]?.trim() === answer.bag), gold = cells.find(row => row[1]?.trim() === answer.bag)?.[0].trim() ?? '';
    found.rows.push({ text: [header, ...own].join('\n'), shown: answer.bag, gold, answer: answer.label, loss: -Math.log(Math.max(answer.probabilities[gold] ?? 0, 1e-12)), distance: Number(gold !== answer.label), taken: [pair(gold, answer.label)],
      entropy: entropy(Array.isArray(answer.attention[0]) ? answer.attention[0] : answer.attention), confidence: answer.probabilities[answer.label] });
  }
  again();
}

async function measure(model, content, limit, again) {
  const lines = content.split(/\r?\n/).filter(line => line.trim());
  Object.assign(found, { model: model.name, rows: [], filter: null, total: lines.length });
  const rows = lines.map(line => line.split('\t'));
  if (model.task === 'match') return candidates(model, rows, limit, again);
  if (model.task === 'bags') return bags(model, lines, again);
  for (let at = 0; at < rows.length; at += limit) {
    const part = rows.slice(at, at + limit);
    if (model.task === 'seq2seq') {
      const texts = part.map(fields => fields[2] !== undefined ? `${fields[0]}\t${fields[2]}` : fields[0]);
      const answers = await predict(model.name, texts, { options: searching(), targets: part.map(fields => fields[1] ?? '') }, 'rows');
      answers.forEach((answer, i) => {
        const best = answer.hypotheses[0], gold = part[i][1] ?? '';
        const { edits, taken } = distance(answer.target.tokens, best.tokens);
        found.rows.push({ text: texts[i], gold, answer: best.text, loss: -answer.target.log_prob / (answer.target.tokens.length + 1), distance: edits, taken,
          entropy: best.attention.length ? best.attention.reduce((sum, row) => sum + entropy(row), 0) / best.attention.length : 0, confidence: Math.exp(best.log_prob) });
      });
    } else {
      const answers = await predict(model.name, part.map(fields => fields[0]), {}, 'rows');
      answers.forEach((answer, i) => {
        if (answer.error) return;
        const gold = (part[i][1] ?? '').trim(), p = answer.probabilities[gold] ?? 0;
        const weights = Array.isArray(answer.attention[0]) ? answer.attention[0] : answer.attention;
        found.rows.push({ text: part[i][0], gold, answer: answer.label, loss: -Math.log(Math.max(p, 1e-12)), distance: Number(gold !== answer.label),
          taken: [pair(gold, answer.label)], entropy: entropy(weights), confidence: answer.probabilities[answer.label] });
      });
    }
    again();
  }
}

// Who was taken for whom: rows are right, columns were said; a cell shows its rows of the file alone. Of many units those that are confused most.
function confusions(counts, again) {
  const all = [...counts].map(([name, count]) => [...name.split(' → '), count, name]);
  const most = at => {
    const sums = new Map();
    all.forEach(cell => sums.set(cell[at], (sums.get(cell[at]) ?? 0) + cell[2]));
    return [...sums].sort((a, b) => b[1] - a[1]).slice(0, 14).map(([name]) => name).sort();
  };
  const [gold, said] = [most(0), most(1)];
  const cell = (right, answer) => {
    const name = pair(right, answer), count = counts.get(name);
    return h('td', {}, count && h('button', { class: right === answer ? 'right' : '', 'aria-pressed': String(found.filter === name), 'aria-label': `${name}: ${count}`, onclick: () => { found.filter = found.filter === name ? null : name; again(); } }, String(count)));
  };
  return h('div', { class: 'wide confusions' }, h('h3', {}, 'right ↓, said →'), h('table', {}, h('thead', {}, h('tr', {}, h('th', {}), said.map(name => h('th', {}, name)))), h('tbody', {}, gold.map(right => h('tr', {}, h('th', {}, right), said.map(answer => cell(right, answer)))))));
}

const COLUMNS = [['loss', x => x.toFixed(3)], ['distance', String], ['entropy', x => x.toFixed(2)], ['confidence', percent]];

export function show(model, limit, again, fail) {
  if (found.model !== model.name) Object.assign(found, { model: model.name, rows: [], filter: null });
  const run = content => measure(model, content, limit, again).catch(fail);
  const pasted = h('textarea', { rows: 3, class: 'pasted', 'aria-label': 'lines of a file', placeholder: { seq2seq: 'source ⇥ target', classify: 'text ⇥ label', match: 'question ⇥ answer ⇥ 0 or 1', bags: 'label,bag,numbers: a header and rows' }[model.task] });
  const file = h('input', { type: 'file', 'aria-label': 'a file', onchange: async () => run(await file.files[0].text()) });
  const counts = new Map();
  found.rows.forEach(row => row.taken.forEach(pair => counts.set(pair, (counts.get(pair) ?? 0) + 1)));
  const rows = found.rows.filter(row => !found.filter || row.taken.includes(found.filter))
    .sort((a, b) => (found.down ? -1 : 1) * (typeof a[found.sort] === 'string' ? a[found.sort].localeCompare(b[found.sort]) : a[found.sort] - b[found.sort]));
  const by = name => { found.down = found.sort === name ? !found.down : true; found.sort = name; again(); };
  const right = found.rows.filter(row => row.answer === row.gold).length;
  return [h('h2', {}, 'Rows of a file'), h('p', { class: 'row' }, 'The file is read in this page; its lines go to the model.', file), pasted, h('p', { class: 'row' }, h('button', { class: 'measure', onclick: () => run(pasted.value) }, 'measure these lines')),
    found.rows.length > 0 && [
      h('p', { class: 'row summary' }, `${found.rows.length} of ${found.total} rows, ${right} right (${percent(right / found.rows.length)})`),
      counts.size > 0 && confusions(counts, again),
      h('div', { class: 'wide' }, h('table', { class: 'errors' }, h('thead', {}, h('tr', {}, ['text', 'gold', 'answer'].map(name => h('th', {}, name)), COLUMNS.map(([name]) => h('th', { class: 'n', 'aria-sort': found.sort === name ? found.down ? 'descending' : 'ascending' : 'none' },
        h('button', { 'data-sort': name, onclick: () => by(name) }, name, found.sort === name ? found.down ? ' ↓' : ' ↑' : ''))))),
        h('tbody', {}, rows.slice(0, found.shown).map(row => h('tr', {}, h('td', { class: 't' }, h('button', { class: 'open', onclick: () => change({ text: row.text, view: 'look' }) }, row.shown ?? row.text)), h('td', { class: 't' }, row.gold),
          h('td', { class: `t ${row.answer === row.gold ? '' : 'down'}` }, row.answer), COLUMNS.map(([name, write]) => h('td', { class: 'n' }, write(row[name])))))))),
      rows.length > found.shown && h('button', { onclick: () => { found.shown += 200; again(); } }, `${rows.length - found.shown} more`)]];
}
