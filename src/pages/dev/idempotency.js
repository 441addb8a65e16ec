/* The idempotency key of a form, which stays the same until the person requests a new one. */
import { byId } from './page.js';

/** Fills the field with a new key, now and whenever the button is pressed. */
export function offerKeys({ field, button }) {
  const renew = () => (byId(field).value = crypto.randomUUID());
  renew();
  byId(button).addEventListener('click', renew);
}

/** Moves the error of the header to the field that it is typed in. */
export function withKeyField(answer) {
  const { 'Idempotency-Key': texts, ...errors } = answer.body?.errors ?? {};
  if (texts === undefined) return answer;
  return { ...answer, body: { ...answer.body, errors: { ...errors, idempotency_key: texts } } };
}
