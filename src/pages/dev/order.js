/*
 * A payment or a return: it is sent and followed to its end, and the page says at each moment what
 * is known of it and what to do.
 */
import { call } from './api.js';
import { anotherKey } from './idempotency.js';
import { follow } from './live.js';
import {
  askBeforeAnother,
  canGiveUp,
  isInDoubt,
  isOver,
  orderOutcome,
  orderTexts,
  readAnswer,
} from './outcomes.js';
import { element } from './page.js';
import { showWaiting } from './waiting.js';

/** The last order of each form, by its path: a form that is shown again goes on with it. */
const orders = new Map();

// The key would be lost with the page.
addEventListener('beforeunload', (event) => {
  if ([...orders.values()].some(({ answer }) => canGiveUp(answer))) event.preventDefault();
});

/** The orders of a form. */
export class Orders {
  /** @readonly */
  #form;
  #asked = '';

  /**
   * @param {{kind: 'send' | 'refund', path: string, button: string, doing: string,
   *   outcome: HTMLElement, status: HTMLElement, newKey: () => string,
   *   onAnswer: (answer: any) => void}} form `outcome` and `status` are where the result is shown,
   *   `newKey` draws a new key, and `onAnswer` receives what is known after each answer.
   */
  constructor(form) {
    this.#form = form;
    const order = this.#last;
    if (order === null || isOver(order.answer)) return;
    this.#note(order, order.answer);
    void this.#watch(order);
  }

  get #last() {
    return orders.get(this.#form.path) ?? null;
  }

  /** The key of an order that is not over; null: the next one has a new key. */
  get openKey() {
    const order = this.#last;
    return order === null || isOver(order.answer) ? null : order.key;
  }

  get isInDoubt() {
    return this.#last !== null && isInDoubt(this.#last.answer);
  }

  forget() {
    const { path, outcome, status } = this.#form;
    orders.delete(path);
    void follow(status, null);
    for (const place of [outcome, status]) place.replaceChildren();
  }

  /**
   * Sends an order. Another one than the last needs a second press while that is in doubt.
   * @param order.typed what makes it another one, as a text.
   * @returns the response; null: the person was asked.
   */
  async submit({ key, typed, body }) {
    const { kind, path, button, newKey } = this.#form;
    const last = this.#last;
    const isSame = last?.key === key && last.typed === typed;
    const wanted = `${key} ${typed}`;
    if (this.isInDoubt && !isSame && this.#asked !== wanted) {
      this.#asked = wanted;
      const hint = `Press “${button}” once more to make it.`;
      this.#say({ colour: 'doubtful', text: askBeforeAnother(kind) }, hint);
      return null;
    }
    this.#asked = '';
    const isUsed = last?.key === key && !isSame && last.answer.next !== 'correct';
    const used = isUsed ? newKey() : key;
    const answer = last?.key === used ? last.answer : null;
    return this.#exchange({ key: used, typed, answer }, { path, body });
  }

  async #exchange(order, request) {
    const { kind, path, doing, outcome, status, onAnswer } = this.#form;
    const { key, answer: before } = order;
    orders.set(path, order);
    // Until there is a response.
    order.answer = readAnswer(null, before);
    onAnswer(order.answer);
    void follow(status, null);
    status.replaceChildren();
    const end = showWaiting(outcome, { doing, slow: orderTexts[kind].slow });
    outcome.scrollIntoView({ block: 'nearest' });
    const headers = { 'Idempotency-Key': key };
    const response = await call({ method: 'POST', headers, ...request });
    end();
    this.#note(order, readAnswer(response, before), ...findSentence(response));
    void this.#watch(order);
    return response;
  }

  /** Shows the status of an order, and what to do once it has ended. */
  async #watch(order) {
    const { transaction_id: id, status: known = 'PROCESSING', ...made } = order.answer.made;
    if (id === undefined) return;
    const { status } = this.#form;
    const end = await follow(status, { ...made, transaction_id: id, status: known });
    // Another order may have taken the place meanwhile.
    if (end !== null && this.#last === order) this.#note(order, readAnswer(end, order.answer));
  }

  #note(order, answer, ...sentences) {
    const { kind, onAnswer } = this.#form;
    order.answer = answer;
    onAnswer(answer);
    const replayed = answer.isReplay ? [orderTexts[kind].replayed] : [];
    this.#say(orderOutcome(kind, answer, anotherKey), ...sentences, ...replayed);
  }

  #say({ colour, text }, ...hints) {
    const { outcome } = this.#form;
    const order = this.#last;
    outcome.replaceChildren(
      ...(text === '' ? [] : [element('p', { className: `outcome ${colour}` }, text)]),
      ...hints.map((hint) => element('p', { className: 'hint' }, hint)),
      ...(order !== null && canGiveUp(order.answer) ? [this.#giveUpButton(order)] : []),
    );
    // On a phone the result is below the form.
    outcome.scrollIntoView({ block: 'nearest' });
  }

  #giveUpButton(order) {
    const path = `${this.#form.path}/cancel`;
    const onclick = () => void this.#exchange(order, { path });
    const button = { type: 'button', className: 'quiet', onclick };
    return element('div', { className: 'actions' }, element('button', button, 'Give it up'));
  }
}

/** The login announces an ended session, and the fields have what is wrong with them. */
function findSentence({ status, body: { message, code, errors } }) {
  if (status === 401 || message === undefined || errors !== undefined) return [];
  return [code === undefined ? message : `${message} (${code})`];
}
