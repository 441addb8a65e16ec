/* The idempotency key of a form. */
import { byId } from './page.js';

/** How a person makes another order: the form draws a new key once the last one is over. */
export const anotherKey = 'The form has a new key for another one.';

/**
 * Fills the field with a new key, now and whenever the button is pressed. While `isInDoubt`, a
 * payment may have been made: then the button asks first.
 * @param {{field: string, button: string, isInDoubt?: () => boolean, onRenew?: () => void}} options
 * @returns a function that draws a new key, and returns it.
 */
export function offerKeys({ field, button, isInDoubt = () => false, onRenew = () => {} }) {
  const renew = () => (byId(field).value = crypto.randomUUID());
  const pressed = byId(button);
  const hint = byId(`${field}-hint`);
  const [words, hintWords] = [pressed.textContent, hint.textContent];
  let isAsking = false;
  const ask = (asks) => {
    isAsking = asks;
    pressed.textContent = asks ? 'Really a new key?' : words;
    hint.textContent = asks
      ? 'The last payment may have been made: its own key is safe.'
      : hintWords;
  };
  renew();
  pressed.addEventListener('click', () => {
    if (isInDoubt() && !isAsking) return ask(true);
    ask(false);
    renew();
    return onRenew();
  });
  pressed.addEventListener('blur', () => ask(false));
  return renew;
}

/** Moves the error of the header to the field that it is typed in. */
export function withKeyField(response) {
  const { 'Idempotency-Key': texts, ...errors } = response.body?.errors ?? {};
  if (texts === undefined) return response;
  return { ...response, body: { ...response.body, errors: { ...errors, idempotency_key: texts } } };
}
