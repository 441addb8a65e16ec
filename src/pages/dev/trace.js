/* Lists every request with its answer, newest first, and copies requests as curl commands. */
import { exchanges } from './api.js';
import { byId, copy, element } from './page.js';

const kept = 50;

const list = byId('trace');

exchanges.addEventListener('exchange', ({ detail }) => {
  list.prepend(createEntry(detail));
  while (list.children.length > kept) list.lastElementChild.remove();
  byId('trace-count').textContent = `${list.children.length}`;
});

byId('trace-clear').addEventListener('click', () => {
  list.replaceChildren();
  byId('trace-count').textContent = '0';
});

function createEntry({ request, answer, durationMs }) {
  const { method, url } = request;
  const button = element('button', { type: 'button', className: 'quiet' }, 'Copy as curl');
  button.addEventListener('click', () => copy(curlCommand(request), button));
  const status = answer.status === 0 ? 'no answer' : String(answer.status);
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
      element('h3', {}, 'Request'),
      scrolling(requestText(request)),
      element('h3', {}, 'Answer'),
      scrolling(answerText(answer)),
      button,
    ),
  );
}

/** A scrolling region that can be reached by keyboard. */
function scrolling(text) {
  return element('pre', { tabIndex: 0, role: 'region', 'aria-label': 'Raw text' }, text);
}

function requestText({ method, url, headers, body, form }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const json = body === undefined ? [] : [pretty(JSON.parse(body))];
  return [`${method} ${url}`, ...lines, '', ...(form ?? json)].join('\n').trim();
}

function answerText({ status, headers, body }) {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [String(status), ...lines, '', pretty(body)].join('\n').trim();
}

/** Shortens long texts such as images. */
function pretty(value) {
  const short = (_key, part) =>
    typeof part === 'string' && part.length > 400 ? `${part.slice(0, 80)}… (${part.length})` : part;
  return typeof value === 'string' ? value : JSON.stringify(value, short, 2);
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
