/* How long a request has been under way, and what to do when that is long. */
import { slowAfterSeconds } from './outcomes.js';
import { element } from './page.js';

/**
 * Shows that a request is under way, the seconds since, and after some of them a hint.
 * @returns a function for the end of the request; what is shown stays until it is replaced.
 */
export function showWaiting(place, { doing, slow }) {
  // A screen reader would read out each second.
  const seconds = element('span', { className: 'seconds', 'aria-hidden': 'true' });
  const line = element('p', { className: 'outcome plain' }, `${doing}…`, seconds);
  place.replaceChildren(line);
  const startedAt = performance.now();
  let isSlow = false;
  const timer = setInterval(() => {
    const elapsed = Math.floor((performance.now() - startedAt) / 1_000);
    seconds.textContent = ` ${elapsed} s`;
    if (isSlow || elapsed < slowAfterSeconds) return;
    isSlow = true;
    line.after(element('p', { className: 'hint' }, slow));
  }, 1_000);
  return () => clearInterval(timer);
}
