/* Follows the status of a transaction until it is final. */
import { call, exchanges, token } from './api.js';
import { element, statusBadge } from './page.js';

const waitSeconds = 20;

/** The pause after a poll without an answer, as during a restart of the service. */
const pauseMs = 2_000;

/**
 * Shows a transaction in an element and follows it by long polling. Another transaction in the same
 * element ends the polling of the first.
 */
export async function follow(place, transaction) {
  followed.get(place)?.abort();
  const controller = new AbortController();
  followed.set(place, controller);
  let { status } = transaction;
  place.replaceChildren(
    element('span', {}, statusBadge(status)),
    element('code', {}, transaction.transaction_id),
  );
  while (status === 'PROCESSING' && !controller.signal.aborted) {
    const answer = await poll(transaction.transaction_id, controller.signal);
    if (answer?.status === 200) {
      ({ status } = answer.body);
      place.firstElementChild?.replaceChildren(statusBadge(status));
    } else if (answer?.status === 401 || answer?.status === 404) {
      return;
    } else {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

const followed = new Map();

exchanges.addEventListener('session', () => {
  if (token() !== null) return;
  for (const controller of followed.values()) controller.abort();
});

async function poll(id, signal) {
  try {
    return await call({
      path: `/pix/${encodeURIComponent(id)}`,
      headers: { Prefer: `wait=${waitSeconds}` },
      signal,
    });
  } catch {
    return null;
  }
}
