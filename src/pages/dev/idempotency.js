/* The idempotency key of a form: it stays, to repeat with, until the person asks for a new one. */
import { byId } from './page.js';

/** Fills the field with a fresh key, now and whenever the button is pressed. */
export function offerKeys({ field, button }) {
  const renew = () => (byId(field).value = crypto.randomUUID());
  renew();
  byId(button).addEventListener('click', renew);
}

/** The fault of the header is shown at the field that it is typed in. */
export function withFieldOfKey(answer) {
  const { 'Idempotency-Key': texts, ...errors } = answer.body?.errors ?? {};
  if (texts === undefined) return answer;
  return { ...answer, body: { ...answer.body, errors: { ...errors, idempotency_key: texts } } };
}
