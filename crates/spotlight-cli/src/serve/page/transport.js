// The only file that knows of a server. Another of the same functions could answer in the page itself.

let key = sessionStorage.getItem('key');
const underWay = new Map();

async function ask(path, body, slot) {
  // A newer question of the same kind takes the place of the one under way; the server stops working for it.
  underWay.get(slot)?.abort();
  const control = new AbortController();
  if (slot) underWay.set(slot, control);
  const headers = { ...(body && { 'Content-Type': 'application/json' }), ...(key && { Authorization: `Bearer ${key}` }) };
  const reply = await fetch(path, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body), signal: control.signal });
  if (reply.status === 401) {
    key = prompt('This server wants its key:');
    if (key) {
      sessionStorage.setItem('key', key);
      return ask(path, body, slot);
    }
  }
  const answer = await reply.json();
  if (!reply.ok) throw new Error(`${answer.what}: ${answer.why}`);
  return answer;
}

export const models = () => ask('/api/models');

// Answers to texts. `slot` names what the answer is for: only the last question of a slot is answered.
export const predict = async (model, texts, more, slot) => (await ask('/api/predict', { model, texts, ...more }, slot)).answers;

export const audit = model => ask(`/api/audit?model=${encodeURIComponent(model)}`).catch(() => null);

export const cancelled = error => error.name === 'AbortError';
