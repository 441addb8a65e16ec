/* Calls the service and dispatches an event for every request with its response. */

const base = '/api/v1';

/** Receives an `exchange` event, with the request and the response, after each call. */
export const exchanges = new EventTarget();

/** The language of the pages, whatever the browser prefers. */
export const { lang } = document.documentElement;

const tokenKey = 'ponte-dev-token';

export function token() {
  return sessionStorage.getItem(tokenKey);
}

/** Stores the access token in this tab, or removes it. */
export function keepToken(accessToken) {
  if (accessToken === null) sessionStorage.removeItem(tokenKey);
  else sessionStorage.setItem(tokenKey, accessToken);
  exchanges.dispatchEvent(new Event('session'));
}

/** The result of a request without a response. */
const noResponse = {
  status: 0,
  headers: new Headers(),
  body: { message: 'The service did not answer.' },
};

/**
 * Makes one call.
 * @param {{method?: string, path: string, body?: unknown, headers?: Record<string, string>,
 *   signal?: AbortSignal}} request
 * @returns {Promise<{status: number, headers: Headers, body: any}>} with the status 0 without a
 *   response.
 */
export async function call({ method = 'GET', path, body, headers = {}, signal }) {
  const sent = { ...headers };
  if (token() !== null) sent['Authorization'] = `Bearer ${token()}`;
  if (body !== undefined) sent['Content-Type'] = 'application/json';
  const text = body === undefined ? undefined : JSON.stringify(body);
  const request = { method, url: `${base}${path}`, headers: sent, body: text };
  const startedAt = performance.now();
  const response = await sendRequest(request, signal);
  return publish(request, response, startedAt);
}

async function sendRequest({ method, url, headers, body }, signal) {
  try {
    const init = {
      method,
      headers: { 'Accept-Language': lang, ...headers },
      body,
      signal,
      cache: 'no-store',
    };
    const response = await fetch(url, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parsed(text) };
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return noResponse;
  }
}

/**
 * Uploads one document and reports the progress.
 * @param {{path: string, kind: string, file: File, onProgress: (share: number) => void}} upload
 */
export function uploadDocument({ path, kind, file, onProgress }) {
  const form = new FormData();
  form.append('tipo_documento', kind);
  form.append('arquivo', file);
  const request = {
    method: 'POST',
    url: `${base}${path}`,
    headers: {},
    form: [`tipo_documento=${kind}`, `arquivo=@${file.name}`],
  };
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const transfer = new XMLHttpRequest();
    transfer.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    transfer.addEventListener('load', () => {
      const lines = transfer.getAllResponseHeaders().trim().split(/\r?\n/);
      const headers = new Headers(lines.map(parseHeader));
      const response = { status: transfer.status, headers, body: parsed(transfer.responseText) };
      resolve(publish(request, response, startedAt));
    });
    transfer.addEventListener('error', () => resolve(publish(request, noResponse, startedAt)));
    transfer.open('POST', request.url);
    transfer.setRequestHeader('Accept-Language', lang);
    transfer.send(form);
  });
}

function parseHeader(line) {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function publish(request, response, startedAt) {
  const durationMs = Math.round(performance.now() - startedAt);
  exchanges.dispatchEvent(
    new CustomEvent('exchange', { detail: { request, response, durationMs } }),
  );
  return response;
}
