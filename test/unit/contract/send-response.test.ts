/** The client's reading of a response to a send. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSendResponse, type SendStep } from '../../../contract/client/index.ts';
import { nextOfRow, orderAnswerRows } from '../../documents/order-answers.ts';

interface Sample {
  readonly status: number;
  readonly outcome?: string;
  readonly next?: string;
  readonly body?: unknown;
  readonly retryAfter?: string;
}

const message = 'Why not.';
const transaction = (status: string) => ({ transaction_id: 'one', status });
const fields = (name: string) => ({ message, errors: { [name]: ['Not this one.'] } });
const coded = (code: string) => ({ code, message });

function read({ status, outcome, next, body, retryAfter }: Sample): SendStep {
  const headers = new Headers(outcome === undefined ? {} : { 'Pix-Outcome': outcome });
  if (next !== undefined) headers.set('Pix-Next', next);
  if (retryAfter !== undefined) headers.set('Retry-After', retryAfter);
  return readSendResponse({ status, headers, body });
}

interface Row {
  readonly status: readonly number[];
  readonly outcomes?: readonly string[];
  readonly bodies: readonly unknown[];
  readonly step: SendStep['step'];
}

const ended = ['PROVIDER_UNAVAILABLE', 'PROVIDER_TIMEOUT', 'PROVIDER_INVALID_RESPONSE'];
const outcomes = ['accepted', 'rejected', 'not_sent', 'unknown'];

/** The responses of services before 1.3.0: by status, outcome and code, and their steps. */
const rows: Readonly<Record<string, Row>> = {
  '200 PROCESSING/accepted': { status: [200], bodies: [transaction('PROCESSING')], step: 'wait' },
  '200 PROCESSING/unknown': { status: [200], bodies: [transaction('PROCESSING')], step: 'wait' },
  '200 COMPLETED/accepted': { status: [200], bodies: [transaction('COMPLETED')], step: 'paid' },
  '200 FAILED/any': {
    status: [200],
    outcomes,
    bodies: [transaction('FAILED')],
    step: 'not_paid',
  },
  'COMPLETED after FAILED/accepted': {
    status: [200],
    bodies: [transaction('COMPLETED')],
    step: 'paid',
  },
  '502/not_sent/PIX_KEY_NOT_FOUND': {
    status: [502],
    bodies: [coded('PIX_KEY_NOT_FOUND')],
    step: 'not_paid',
  },
  '502/rejected/INSUFFICIENT_FUNDS': {
    status: [502],
    bodies: [coded('INSUFFICIENT_FUNDS')],
    step: 'not_paid',
  },
  '502/not_sent or rejected/PROVIDER_REJECTED': {
    status: [502],
    bodies: [coded('PROVIDER_REJECTED')],
    step: 'not_paid',
  },
  '502/not_sent or rejected/PROVIDER_RATE_LIMITED': {
    status: [502],
    bodies: [coded('PROVIDER_RATE_LIMITED')],
    step: 'not_paid',
  },
  [`502/not_sent/${ended.join(', ')}`]: {
    status: [502],
    bodies: ended.map(coded),
    step: 'not_paid',
  },
  '501/not_sent/NOT_AVAILABLE': {
    status: [501],
    bodies: [coded('NOT_AVAILABLE')],
    step: 'not_sent',
  },
  '401/unknown': { status: [401], bodies: [{ message }], step: 'log_in' },
  '401/not_sent': { status: [401], bodies: [{ message }], step: 'log_in' },
  '422/not_sent': {
    status: [422],
    bodies: [fields('amount'), fields('account')],
    step: 'not_sent',
  },
  '422/not_sent, errors.lookup_id': {
    status: [422],
    bodies: [fields('lookup_id')],
    step: 'not_sent',
  },
  '422/any other, of the fields': {
    status: [422],
    outcomes: ['accepted', 'rejected', 'unknown'],
    bodies: [fields('amount')],
    step: 'stop',
  },
  '422/unknown, with errors.account': {
    status: [422],
    bodies: [fields('account')],
    step: 'stop',
  },
  '400, 408, 413, 415, 431/unknown': {
    status: [400, 408, 413, 415, 431],
    bodies: [{ message }],
    step: 'stop',
  },
  '422/any, with errors.Idempotency-Key': {
    status: [422],
    outcomes,
    bodies: [fields('Idempotency-Key')],
    step: 'stop',
  },
  '429, 503/unknown or not_sent': {
    status: [429, 503],
    bodies: [{ message }],
    step: 'repeat',
  },
  '500, or no response/unknown, or absent': {
    status: [500],
    outcomes: ['unknown'],
    bodies: [{ message }],
    step: 'repeat',
  },
};

for (const [row, { status, outcomes: listed, bodies, step }] of Object.entries(rows)) {
  const all = listed ?? outcomes.filter((outcome) => row.includes(outcome));
  test(`${row}: ${step}`, () => {
    assert.notEqual(all.length, 0);
    for (const one of status) {
      for (const outcome of all) {
        for (const body of bodies) assert.equal(read({ status: one, outcome, body }).step, step);
      }
    }
  });
}

test('401: the same key if it may have been paid, a new one if nothing was sent', () => {
  assert.deepEqual(read({ status: 401, outcome: 'unknown' }), { step: 'log_in', key: 'same' });
  assert.deepEqual(read({ status: 401, outcome: 'not_sent' }), { step: 'log_in', key: 'new' });
});

test('a repeat waits for Retry-After', () => {
  const sample = { status: 503, outcome: 'not_sent', retryAfter: '60' };
  assert.deepEqual(read(sample), { step: 'repeat', afterSeconds: 60 });
});

test('a refusal has the sentences of the service', () => {
  const { refusal } = read({ status: 422, outcome: 'unknown', body: fields('amount') }) as {
    readonly refusal: unknown;
  };
  assert.deepEqual(refusal, fields('amount'));
});

test('without Pix-Outcome it is a proxy that answers: any status proves nothing', () => {
  for (const status of [200, 204, 302, 400, 401, 403, 404, 422, 429, 500, 502, 503, 504]) {
    const step = read({ status, body: coded('INSUFFICIENT_FUNDS') });
    assert.deepEqual(step, { step: 'repeat', afterSeconds: null });
  }
  assert.deepEqual(readSendResponse(null), { step: 'repeat', afterSeconds: null });
});

/** The step of each value of `Pix-Next`; `ask` also about a transaction that has failed. */
const steps: Readonly<Record<string, SendStep['step']>> = {
  done: 'paid',
  wait: 'wait',
  correct: 'not_sent',
  repeat: 'repeat',
  'log-in': 'log_in',
  'new-key': 'not_paid',
  ask: 'stop',
};

for (const row of orderAnswerRows.filter(({ outcome }) => outcome !== '–')) {
  const next = nextOfRow(row);
  const isFailed = row.statuses[0] === 200 && row.order?.status === 'FAILED';
  const step = next === 'ask' && isFailed ? 'not_paid' : steps[next];
  test(`${row.statuses.join(', ')} ${row.mark}, ${row.outcome}: ${next}, ${step}`, () => {
    for (const status of row.statuses) {
      const body = { ...fields('amount'), ...(row.order && transaction(row.order.status)) };
      assert.equal(read({ status, outcome: 'unknown', next, body }).step, step);
    }
  });
}

test('a step that the client does not know means: ask', () => {
  const { step } = read({ status: 422, outcome: 'unknown', next: 'dance', body: { message } });
  assert.equal(step, 'stop');
});

test('a failed transaction has its failure, and says whether the customer should look first', () => {
  const failure = { code: 'OPERATOR_DECISION', message };
  const body = { ...transaction('FAILED'), failure };
  assert.deepEqual(read({ status: 200, outcome: 'rejected', next: 'ask', body }), {
    step: 'not_paid',
    transactionId: 'one',
    refusal: failure,
    failure,
    isDoubtful: true,
  });
});

test('done without a transaction is no proof', () => {
  assert.equal(read({ status: 200, outcome: 'accepted', next: 'done', body: {} }).step, 'repeat');
});
