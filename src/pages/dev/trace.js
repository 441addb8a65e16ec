/* Lists every request with its response, newest first, and copies requests as curl commands. */
import { exchanges } from './api.js';
import { byId, copy, element } from './page.js';

const kept = 50;

const list = byId('trace');

exchanges.addEventListener('exchange', ({ detail }) => {
  list.prepend(createEntry(detail));
  while (list.children.length > kept) list.lastElementChild.remove();
  showCount();
});

byId('trace-clear').addEventListener('click', () => {
  list.replaceChildren();
  showCount();
});

function showCount() {
  byId('trace-count').textContent = `${list.children.length}`;
  byId('trace-empty').hidden = list.children.length > 0;
}

function createEntry({ request, response, durationMs }) {
  const { method, url } = request;
  const button = element('button', { type: 'button', className: 'quiet' }, 'Copy as curl');
  button.addEventListener('click', () => copy(curlCommand(request), button));
  const status = response.status === 0 ? 'no response' : String(response.status);
  return element(
    'li',
    {},
    element(
      'details',
      {},
      element(
        'summary',
        {},
        element('span', { className: `code s${status[0]}` }, status),
        ` ${method} ${url} `,
        element('span', { className: 'hint' }, `${durationMs} ms`),
      ),
      ...requestParts(request),
      element('h3', {}, 'Response'),
      scrolling('The response', ...highlighted(pretty(response.body))),
      headerParts(request, response),
      button,
    ),
  );
}

function requestParts({ body, form }) {
  const json = body === undefined ? undefined : pretty(JSON.parse(body));
  const text = form?.join('\n') ?? json;
  if (text === undefined) return [];
  return [element('h3', {}, 'Request'), scrolling('The request', ...highlighted(text))];
}

function headerParts(request, { headers }) {
  const lines = (pairs) => pairs.map(([name, value]) => `${name}: ${value}`).join('\n');
  return element(
    'details',
    {},
    element('summary', {}, 'Headers'),
    scrolling('Headers of the request', lines(Object.entries(request.headers)) || 'none'),
    scrolling('Headers of the response', lines([...headers]) || 'none'),
  );
}

/** What scrolls can be reached by keyboard. */
function scrolling(label, ...content) {
  return element('pre', { tabIndex: 0, role: 'group', 'aria-label': label }, ...content);
}

/** Shortens long texts such as images. */
function pretty(value) {
  const short = (_key, part) =>
    typeof part === 'string' && part.length > 400 ? `${part.slice(0, 80)}… (${part.length})` : part;
  return typeof value === 'string' ? value : JSON.stringify(value, short, 2);
}

const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|\b(?:true|false|null)\b/gi;

/** The parts of a JSON text: names, texts and other values in colours of their own. */
function highlighted(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(tokens)) {
    const [whole, inQuotes, colon] = match;
    const ofText = colon === undefined ? 'text' : 'name';
    const kind = inQuotes === undefined ? 'value' : ofText;
    parts.push(text.slice(end, match.index), element('span', { className: `json-${kind}` }, whole));
    end = match.index + whole.length;
  }
  return [...parts, text.slice(end)];
}

function curlCommand({ method, url, headers, body, form }) {
  const parts = ['curl -i', `-X ${method}`, quoted(new URL(url, location.origin).href)];
  for (const [name, value] of Object.entries(headers))
    parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== undefined) parts.push(`-d ${quoted(body)}`);
  for (const field of form ?? []) parts.push(`-F ${quoted(field)}`);
  return parts.join(' \\\n  ');
}

/** Quotes a text for a POSIX shell. */
function quoted(text) {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
