/* A transaction's status, followed until it has ended. */
import { call, exchanges, token } from './api.js';
import { element, statusBadge } from './page.js';

const waitSeconds = 20;

/** After a poll without an answer: the service may be restarting. */
const pauseMs = 2_000;

/**
 * Shows a transaction in a place and follows it by long polls; a later one in the same place ends
 * the earlier one's polls.
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
