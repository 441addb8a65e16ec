/** The client's reading of a response to a send, against the table of the README. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readSendResponse, type SendStep } from '../../../contract/client/index.ts';
import { splitSections, tablesIn } from '../../documents/document.ts';

interface Sample {
  readonly status: number;
  readonly outcome?: string;
  readonly body?: unknown;
  readonly retryAfter?: string;
}

const message = 'Why not.';
const transaction = (status: string) => ({ transaction_id: 'one', status });
const fields = (name: string) => ({ message, errors: { [name]: ['Not this one.'] } });
const coded = (code: string) => ({ code, message });

function read({ status, outcome, body, retryAfter }: Sample): SendStep {
  const headers = new Headers(outcome === undefined ? {} : { 'Pix-Outcome': outcome });
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

/** By the first three cells of a row: the responses of this kind, and the step they lead to. */
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

const documented = tablesIn(
  splitSections(readFileSync('README.md', 'utf8')).find(
    ({ heading }) => heading === 'What the app should do',
  )?.text ?? '',
)[0]?.map((cells) => {
  const [response, outcome, code] = cells.map((cell) => cell.replaceAll('`', ''));
  return [response, outcome, ...(code === '–' ? [] : [code])].join('/');
});

test('the client knows every row of the README, and no other', () => {
  assert.deepEqual(documented, Object.keys(rows));
});

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
