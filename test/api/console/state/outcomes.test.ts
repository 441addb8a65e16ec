/** What an answer about a payment, a return or a charge says, and what to do next, by cases. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PixNext } from '../../../../contract/types.ts';
import {
  askBeforeAnother,
  canGiveUp,
  chargeOutcome,
  isInDoubt,
  isOver,
  orderOutcome,
  readAnswer,
  type Answer,
  type OrderKind,
} from '../../../../console/state/outcomes.ts';

interface Given {
  /** Absent: the response is that of a proxy. */
  readonly next?: PixNext | 'later';
  readonly status?: number;
  readonly body?: object;
  readonly wait?: string;
  readonly isReplay?: boolean;
}

function answered({ next, status = 200, body = {}, wait, isReplay = false }: Given) {
  const headers = new Headers();
  if (next !== undefined) headers.set('pix-next', next);
  if (wait !== undefined) headers.set('retry-after', wait);
  if (isReplay) headers.set('idempotency-replayed', 'true');
  return { status, headers, body };
}

const read = (given: Given, before: Answer | null = null) => readAnswer(answered(given), before);

const another = 'ctrl+n makes a new key.';
const made = { transaction_id: 't', status: 'PROCESSING' };
const failure = { code: 'AC03', message: 'The account does not exist.' };
const errors = { amount: ['No.'] };

/** Each value of `Pix-Next`; `key` is the one that the text names. */
const cases: readonly (readonly [
  Given,
  says: Readonly<Record<OrderKind, RegExp>>,
  key: 'new' | 'same' | null,
])[] = [
  [{ next: 'done' }, { send: /^It is paid\./, refund: /^It is returned\./ }, 'new'],
  [
    { next: 'wait', body: made },
    { send: /being paid.*Wait/, refund: /being returned.*Wait/ },
    null,
  ],
  [
    { next: 'new-key', body: { ...made, failure } },
    {
      send: /^The payment has failed \(AC03\)\. The account does not exist\./,
      refund: /^The return has failed \(AC03\)\. The account does not exist\./,
    },
    'new',
  ],
  [
    { next: 'new-key', status: 502, body: { code: 'PROVIDER_REJECTED', message: 'No.' } },
    { send: /^The payment has failed\. ctrl/, refund: /^The return has failed\. ctrl/ },
    'new',
  ],
  [
    { next: 'correct', status: 422, body: { errors } },
    { send: /^Correct the marked fields\.$/, refund: /^Correct the marked fields\.$/ },
    null,
  ],
  // Its message is all.
  [{ next: 'correct', status: 501 }, { send: /^$/, refund: /^$/ }, null],
  [
    { next: 'repeat', status: 503, wait: '5' },
    { send: /may have been paid\. Send again in 5 s/, refund: /returned\. Return it again in 5 s/ },
    'same',
  ],
  [
    { next: 'log-in', status: 401 },
    { send: /may have been paid/, refund: /may have been/ },
    'same',
  ],
  [{ status: 504 }, { send: /may have been paid/, refund: /may have been returned/ }, 'same'],
  [
    { next: 'ask', body: { ...made, failure } },
    {
      send: /has failed \(AC03\).*exist\. Look at/,
      refund: /has failed \(AC03\).*exist\. Look at/,
    },
    null,
  ],
  [
    { next: 'ask', status: 422, body: { errors } },
    { send: /^Look at the transactions/, refund: /^Look at the transactions/ },
    null,
  ],
  [{ next: 'later' }, { send: /^Look at the transactions/, refund: /^Look at/ }, null],
];

for (const kind of ['send', 'refund'] as const) {
  describe(`after a ${kind}`, () => {
    for (const [given, says, key] of cases) {
      it(`${JSON.stringify(given)}: ${String(says[kind])}, ${key ?? 'no other'} key`, () => {
        const { text } = orderOutcome(kind, read(given), another);
        assert.match(text, says[kind]);
        assert.equal(text.includes(another), key === 'new', text);
        assert.equal(text.includes('same key'), key === 'same', text);
        if (kind === 'refund') assert.doesNotMatch(text, /paid|payment|sent/);
      });
    }
  });
}

describe('the question before another order', () => {
  it('names what is in doubt, and what would be made', () => {
    const asked = askBeforeAnother('refund', 'send');
    assert.match(asked, /^The last payment may.*pays twice\. Make another return\?$/);
    assert.match(askBeforeAnother('send'), /^The last payment may.*Make another payment\?$/);
  });
});

describe('an order', () => {
  it('is in doubt unless it is paid, has failed, or was refused for its fields', () => {
    for (const next of ['wait', 'repeat', 'log-in', 'ask'] as const) assert.ok(isInDoubt({ next }));
    for (const next of ['done', 'new-key', 'correct'] as const) assert.ok(!isInDoubt({ next }));
    assert.ok(isInDoubt(readAnswer(null, null)), 'before its response');
  });

  it('is over once it is paid or has failed', () => {
    for (const next of ['done', 'new-key'] as const) assert.ok(isOver({ next }));
    for (const next of ['wait', 'repeat', 'ask', 'correct'] as const) assert.ok(!isOver({ next }));
  });

  it('stays in doubt when a repeat is refused for its fields', () => {
    const refused: Given = { next: 'correct', status: 422, body: { errors } };
    const lost = readAnswer(null, null);
    assert.equal(read(refused, lost).next, 'repeat');
    assert.equal(read(refused, read({ next: 'done' })).next, 'correct');
    assert.equal(read({ next: 'new-key' }, lost).next, 'new-key');
  });

  it('can be given up while the service has not said that it has it', () => {
    assert.ok(canGiveUp(read({ next: 'repeat', status: 503 })));
    assert.ok(!canGiveUp(read({ next: 'wait', body: made })));
    assert.ok(!canGiveUp(read({ next: 'new-key', status: 502 })));
  });

  it('keeps what earlier responses have told of it', () => {
    const first = read({ next: 'wait', isReplay: true, body: { ...made, end_to_end: 'E1' } });
    const last = read({ next: 'done', body: { transaction_id: 't', status: 'COMPLETED' } }, first);
    assert.deepEqual(last.made, { transaction_id: 't', status: 'COMPLETED', end_to_end: 'E1' });
    assert.ok(last.isReplay);
  });
});

describe('after a charge', () => {
  const charges: readonly (readonly [Given, says: RegExp])[] = [
    [{ body: { status: 'FAILED' } }, /has failed.*ctrl\+n/],
    [{ status: 502, body: { code: 'PROVIDER_UNAVAILABLE' } }, /Charge again, with the same key/],
    [{ status: 503, wait: '5' }, /in 5 s, with the same key/],
    [{ status: 422, body: { errors } }, /^Correct the marked fields\.$/],
  ];
  for (const [given, says] of charges) {
    it(`${JSON.stringify(given)}: ${String(says)}`, () => {
      assert.match(chargeOutcome(answered(given), another).text, says);
    });
  }
});
