/* Notices that a transaction has ended, so that what is shown of the account stays true. */
import { exchanges, token } from './api.js';

const pauseMs = 3_000;

const ended = new EventTarget();

/** Calls `work` whenever a transaction has ended, of whatever cause. */
export function onChange(work) {
  ended.addEventListener('change', work);
}

let mark = null;

let isWatching = false;

/** Long polls while the page is visible and logged in. The list of requests leaves it out. */
async function watch() {
  if (isWatching) return;
  isWatching = true;
  while (token() !== null && !document.hidden) await readMark();
  isWatching = false;
}

async function readMark() {
  try {
    const query = mark === null ? '' : `?since=${encodeURIComponent(mark)}`;
    const response = await fetch(`/dev/changes${query}`, { cache: 'no-store' });
    const next = response.ok ? (await response.json()).mark : mark;
    const isNews = mark !== null && next !== mark;
    mark = next;
    if (isNews && token() !== null) ended.dispatchEvent(new Event('change'));
    if (response.ok) return;
  } catch {
    // The service is away, as during a restart.
  }
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
}

exchanges.addEventListener('session', watch);
document.addEventListener('visibilitychange', watch);
void watch();
