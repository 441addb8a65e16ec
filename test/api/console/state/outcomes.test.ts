/** What came of a payment or a return, and what to do next: the rule of the README by cases. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PixStatus } from '../../../../contract/types.ts';
import {
  askBeforeAnother,
  chargeOutcome,
  isInDoubt,
  orderOutcome,
  sessionEndedText,
} from '../../../../console/state/outcomes.ts';

interface Given {
  readonly status: number;
  readonly live?: PixStatus;
  readonly code?: string;
  readonly outcome?: string;
  readonly field?: string;
  readonly wait?: string;
}

/** The `Pix-Outcome` of the service for a status. A proxy, as here of the 504, sends none. */
const outcomes: Readonly<Record<number, string>> = {
  401: 'unknown',
  422: 'not_sent',
  429: 'unknown',
  500: 'unknown',
  501: 'not_sent',
  502: 'not_sent',
  503: 'unknown',
};

function answered({ status, code, outcome = outcomes[status], field, wait }: Given) {
  const headers = new Headers();
  if (outcome !== undefined) headers.set('pix-outcome', outcome);
  if (wait !== undefined) headers.set('retry-after', wait);
  const errors = field === undefined ? undefined : { [field]: ['No.'] };
  return { status, headers, body: { message: 'No.', code, errors } };
}

const newKey = 'ctrl+n makes a new key';
const sameKey = 'same key';

describe('after a send', () => {
  const cases: readonly (readonly [Given, says: RegExp, key: string | null])[] = [
    [{ status: 200, live: 'COMPLETED', outcome: 'accepted' }, /It is paid/, newKey],
    [{ status: 200, live: 'PROCESSING', outcome: 'accepted' }, /Wait/, null],
    [{ status: 200, live: 'PROCESSING', outcome: 'unknown' }, /never pay it with a new key/, null],
    [{ status: 200, live: 'FAILED', outcome: 'accepted' }, /has failed/, newKey],
    [{ status: 502, code: 'PIX_KEY_NOT_FOUND' }, /Correct the Pix key/, newKey],
    [{ status: 502, code: 'INSUFFICIENT_FUNDS' }, /No money has moved/, newKey],
    [{ status: 502, code: 'PROVIDER_REJECTED' }, /Change the payment/, newKey],
    [{ status: 502, code: 'PROVIDER_RATE_LIMITED', wait: '60' }, /in 60 s/, newKey],
    [{ status: 502, code: 'PROVIDER_UNAVAILABLE' }, /Try again later/, newKey],
    [{ status: 422, field: 'amount' }, /Correct the marked fields/, null],
    [{ status: 422, field: 'Idempotency-Key' }, /another payment/, newKey],
    [{ status: 429, wait: '30' }, /in 30 s/, sameKey],
    [{ status: 503, wait: '5' }, /in 5 s/, sameKey],
    [{ status: 500 }, /may have been paid/, sameKey],
    [{ status: 501, code: 'NOT_AVAILABLE' }, /the bank does not offer it/, null],
  ];
  for (const [given, says, key] of cases) {
    it(`${JSON.stringify(given)}: ${String(says)}, ${key ?? 'no other key'}`, () => {
      const { text } = orderOutcome('send', answered(given), { live: given.live ?? null });
      assert.match(text, says);
      assert.equal(text.includes(newKey), key === newKey, text);
      assert.equal(text.includes(sameKey), key === sameKey, text);
    });
  }
});

describe('after a return', () => {
  const cases: readonly (readonly [Given, says: RegExp, key: string | null])[] = [
    [{ status: 200, live: 'COMPLETED', outcome: 'accepted' }, /It is returned/, newKey],
    [{ status: 200, live: 'PROCESSING', outcome: 'accepted' }, /Wait/, null],
    [{ status: 200, live: 'PROCESSING', outcome: 'unknown' }, /never return it with a new/, null],
    [{ status: 200, live: 'FAILED', outcome: 'accepted' }, /The return has failed/, newKey],
    [{ status: 502, code: 'INSUFFICIENT_FUNDS' }, /Return less/, newKey],
    [{ status: 502, code: 'PROVIDER_REJECTED' }, /Change the return/, newKey],
    [{ status: 502, code: 'PROVIDER_UNAVAILABLE' }, /Nothing was returned\. Try again/, newKey],
    [{ status: 422, field: 'amount', outcome: 'unknown' }, /Correct the marked fields/, null],
    [{ status: 422, field: 'Idempotency-Key' }, /another return/, newKey],
    [{ status: 503, wait: '5' }, /in 5 s/, sameKey],
    [{ status: 500 }, /may have been returned/, sameKey],
    [{ status: 501, code: 'NOT_AVAILABLE' }, /the bank does not offer it/, null],
  ];
  for (const [given, says, key] of cases) {
    it(`${JSON.stringify(given)}: ${String(says)}, ${key ?? 'no other key'}`, () => {
      const { text } = orderOutcome('refund', answered(given), { live: given.live ?? null });
      assert.match(text, says);
      assert.equal(text.includes(newKey), key === newKey, text);
      assert.equal(text.includes(sameKey), key === sameKey, text);
      assert.doesNotMatch(text, /paid|payment|sent/);
    });
  }
});

describe('the question before another order', () => {
  it('names what is in doubt, and what would be made', () => {
    const asked = askBeforeAnother('refund', 'send');
    assert.match(asked, /^The previous payment may.*pays twice\. Make another return\?$/);
    assert.match(askBeforeAnother('send'), /^The previous payment may.*Make another payment\?$/);
  });
});

describe('a payment is in doubt', () => {
  const cases: readonly (readonly [Given, first: boolean, repeated: boolean])[] = [
    [{ status: 200, live: 'PROCESSING', outcome: 'unknown' }, true, true],
    [{ status: 200, live: 'PROCESSING', outcome: 'accepted' }, false, false],
    [{ status: 200, live: 'COMPLETED', outcome: 'unknown' }, false, false],
    [{ status: 502, code: 'PROVIDER_REJECTED' }, false, false],
    [{ status: 422, field: 'amount' }, false, true],
    [{ status: 401 }, false, true],
    [{ status: 429 }, false, true],
    [{ status: 503 }, false, true],
    [{ status: 501 }, false, true],
    [{ status: 500 }, true, true],
    [{ status: 504 }, true, true],
  ];
  for (const [given, first, repeated] of cases) {
    it(`${JSON.stringify(given)}: ${first}; after a request without a response: ${repeated}`, () => {
      const response = { ...answered(given), body: { status: given.live } };
      assert.deepEqual([isInDoubt(response, false), isInDoubt(response, true)], [first, repeated]);
    });
  }

  it('and stays so when a repeat is refused: the advice is its own key', () => {
    const known = { live: null, isDoubtful: true };
    for (const status of [401, 422, 429, 503]) {
      const { text } = orderOutcome('send', answered({ status }), known);
      assert.match(text, /may have been paid.*same key/);
    }
    const given = answered({ status: 422, field: 'Idempotency-Key' });
    assert.match(orderOutcome('send', given, known).text, /belongs to another payment/);
  });
});

describe('after a charge', () => {
  const cases: readonly (readonly [Given, says: RegExp])[] = [
    [{ status: 200 }, /has failed.*ctrl\+n/],
    [{ status: 502, code: 'PROVIDER_UNAVAILABLE' }, /same key/],
    [{ status: 500 }, /same key/],
    [{ status: 503, wait: '5' }, /in 5 s, with the same key/],
    [{ status: 422, field: 'city' }, /Correct the marked fields/],
    [{ status: 422, field: 'Idempotency-Key' }, /another charge.*ctrl\+n/],
  ];
  for (const [given, says] of cases) {
    it(`${JSON.stringify(given)}: ${String(says)}`, () => {
      assert.match(chargeOutcome(answered(given)).text, says);
    });
  }
});

describe('after a session', () => {
  it('one logs in again, and what was typed is kept', () => {
    assert.match(sessionEndedText(null), /Log in again: your input is kept/);
  });

  it('that the bank has ended within a send or a return, no money has moved', () => {
    assert.match(sessionEndedText('not_sent'), /no money has moved: log in, then ctrl\+n/);
  });
});
