/* Follows the status of a transaction until it is final. */
import { call, exchanges, token } from './api.js';
import { element, statusBadge } from './page.js';

const waitSeconds = 20;

/** The pause after a poll without a response, as during a restart of the service. */
const pauseMs = 2_000;

/**
 * Shows a transaction in an element and follows it by long polling. Another transaction in the same
 * element, or null, ends the polling of the first.
 * @returns the response with the final status; null when it was final before, or was not followed
 *   to its end.
 */
export async function follow(place, transaction) {
  followed.get(place)?.abort();
  followed.delete(place);
  if (transaction === null) return null;
  const controller = new AbortController();
  const { signal } = controller;
  followed.set(place, controller);
  let { status } = transaction;
  let last = null;
  const badge = element('span', {}, statusBadge(status));
  const note = element('span', { className: 'hint' }, detailNote(transaction));
  place.replaceChildren(badge, element('code', {}, transaction.transaction_id), note);
  while (status === 'PROCESSING') {
    const response = await poll(transaction.transaction_id, signal);
    if (signal.aborted) return null;
    note.textContent = '';
    if (response?.status === 200) {
      last = response;
      ({ status } = response.body);
      note.textContent = detailNote(response.body);
      badge.replaceChildren(statusBadge(status));
    } else if (response?.status === 401 || response?.status === 404) {
      return null;
    } else {
      note.textContent = 'The service does not answer: the status may be old.';
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return signal.aborted ? null : last;
}

const detailNotes = {
  UNDER_ANALYSIS:
    'The bank analyses the payment, to protect the payer from fraud: for at most an hour.',
  BEING_CHECKED: 'The bank has not said whether it has made the payment: it is being checked.',
};

function detailNote({ detail }) {
  return detailNotes[detail] ?? '';
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
