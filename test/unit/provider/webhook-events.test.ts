import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type WebhookItem, readWebhookEvents } from '../../../src/provider/webhook-events.ts';
import { endToEnd, expected, flat, ids, noPayee, shapes, twice, txid } from './webhook-shapes.ts';

function readOne(item: unknown): WebhookItem {
  const events = readWebhookEvents(item);
  assert.equal(events.length, 1);
  return events[0] as WebhookItem;
}

describe('the shapes of a webhook payload', () => {
  for (const { title, payload, event } of shapes) {
    it(`reads ${title}`, () => assert.deepEqual(readOne(payload), event));

    it(`reads ${title}, in an array`, () => {
      assert.deepEqual(readWebhookEvents([flat(), payload])[1], { ...event, index: 1 });
    });
  }

  it('reads names in any case and spelling', () => {
    const payload = {
      EVENT: 'pix-payment',
      END_TO_END_ID: endToEnd,
      Status: ' paid ',
      AMOUNT: 10.5,
    };
    assert.deepEqual(readOne(payload), expected({ name: 'pix-payment' }));
  });

  it('reads a list beside single items and numbers them through', () => {
    const one = { endToEndId: endToEnd, valor: '10.50' };
    const events = readWebhookEvents([flat(), { PIX: [one, one] }, flat()]);
    assert.deepEqual(
      events.map(({ index, kind }) => [index, kind]),
      [
        [0, 'payment'],
        [1, 'received'],
        [2, 'received'],
        [3, 'payment'],
      ],
    );
  });

  it('reads nothing out of an empty array', () => {
    assert.deepEqual(readWebhookEvents([]), []);
    assert.deepEqual(readWebhookEvents({ pix: [] }), []);
  });

  it('reads every item that a payload has room for', () => {
    const items = Array.from({ length: 12_000 }, (_, nth) => ({ id: nth, status: 'PAID' }));
    const events = readWebhookEvents(items);
    assert.equal(events.length, 12_000);
    assert.deepEqual(readOne(items.at(-1)), { ...events.at(-1), index: 0 });
  });

  it('skips empty items, up to a limit, and keeps the positions', () => {
    for (const nothing of [0, null, 'text', {}]) {
      const many = Array.from({ length: 5_000 }, () => nothing);
      const events = readWebhookEvents([...many, flat(), ...many, flat()]);
      assert.equal(events.length, 102);
      assert.ok(events.slice(0, 100).every(({ kind }) => kind === 'ignored'));
      assert.deepEqual(events.slice(100), [
        expected({ index: 5_000 }),
        expected({ index: 10_001 }),
      ]);
    }
  });

  it('reads a list of lists, one level deep', () => {
    assert.deepEqual(readWebhookEvents([[flat()], [flat(), flat()]]), [
      expected({ index: 0 }),
      expected({ index: 1 }),
      expected({ index: 2 }),
    ]);
    assert.equal(readOne([[[flat()]]]).ignoredBecause, 'not_an_object');
    const pix = [[{ endToEndId: endToEnd, valor: '10.50' }]];
    assert.equal(readOne({ pix }).kind, 'received');
  });

  it('reads a list inside a wrapper, and the fields beside it in another spelling', () => {
    const one = { endToEndId: endToEnd, valor: '10.50' };
    for (const payload of [{ data: { pix: [one] } }, { event: 'pix', payload: { pix: [one] } }]) {
      assert.deepEqual(
        readOne(payload),
        expected({ name: 'pix', kind: 'received', isUndirected: true }),
      );
    }
    assert.equal(readWebhookEvents({ pix: [one], PIX: one }).length, 2);
    assert.deepEqual(readOne(flat({ pix: [] })), expected({}));
  });

  it('takes the items of a list for reversals where the object around it is about one', () => {
    for (const around of [{ event: 'PIX_REFUNDED' }, { status: 'DEVOLVIDO' }]) {
      const event = readOne({ ...around, pix: [{ endToEndId: endToEnd, txid, valor: '10.50' }] });
      assert.equal(event.ignoredBecause, 'reversal');
    }
  });

  it('applies the fields around a list to its items', () => {
    const items: readonly (readonly [object, Partial<WebhookItem>])[] = [
      [{ event: 'PIX_RECEIVED' }, { kind: 'received', status: 'COMPLETED' }],
      [
        { event: 'PIX_RECEIVED', status: 'PAID' },
        { kind: 'received', status: 'COMPLETED' },
      ],
      [{ event: 'PIX_RECEIVED', status: 'PENDING' }, { status: 'PROCESSING' }],
      [{ event: 'PIX_RECEIVED', status: 'ERROR' }, { ignoredBecause: 'not_received' }],
      [{ event: 'PIX_RECEIVED', status: 'EXPIRED' }, { ignoredBecause: 'unknown_status' }],
      [{ status: 'FAILED' }, { ignoredBecause: 'not_received' }],
      [{ event: 'X:MOVEMENT_FAILED' }, { kind: 'payment', status: 'FAILED' }],
      [{ event: 'CHARGE_EXPIRED' }, { ignoredBecause: 'contradictory_status' }],
      [{ event: 'SOMETHING_ELSE' }, { ignoredBecause: 'unknown_event' }],
    ];
    const pix = [{ endToEndId: endToEnd, txid, valor: '10.50', horario: '2026-05-24T12:00:00Z' }];
    for (const [around, read] of items) {
      for (const payload of [
        { ...around, pix },
        { ...around, data: { pix } },
        { payload: { ...around, pix } },
      ]) {
        assert.partialDeepStrictEqual(readOne(payload), read, JSON.stringify(payload));
      }
    }
  });

  it('reads an item of a `pix` list with a status and no party like a single item', () => {
    const item = { endToEndId: endToEnd, status: 'PAID', valor: '10.50' };
    assert.deepEqual(readOne({ pix: [item] }), expected({ name: 'unnamed' }));
    for (const whom of [{ txid }, { chave: 'ana@ponte.test' }, { payee: { document: '1' } }]) {
      assert.equal(readOne({ pix: [{ ...item, ...whom }] }).kind, 'received');
    }
  });
});

/** Failures whose code is not listed, or that have none. */
const unlisted: readonly Record<string, unknown>[] = [
  {},
  { error: { code: 'PBE300', description: 'Duplicated EndToEndId' } },
  { error: { code: 'AC03' }, reason: 'PBE300' },
  { error: 'Duplicated EndToEndId' },
  { body: { error: { code: 'E1', description: 'EndToEndId já utilizado' } } },
  { data: { message: ['clientRequestId must be unique'] } },
  ...[
    'reason',
    'failureReason',
    'motivoRejeicao',
    'rejectReason',
    'statusReason',
    'returnCode',
    'errorCode',
  ].map((name) => ({ [name]: 'DUPL' })),
  { errors: { endToEnd: ['has already been taken'] } },
  { status: undefined, StatusCode: { StatusId: 3 }, error: { code: 'PBE300' } },
  { status: undefined, event: 'MOVEMENT_FAILED', error: { code: 'PBE300' } },
  { description: 'Pagamento repetido' },
];

describe('the status code', () => {
  const codes: readonly [Record<string, unknown>, string][] = [
    [{ StatusId: 0 }, 'PROCESSING'],
    [{ StatusId: 1, Description: 'PROCESSING' }, 'PROCESSING'],
    [{ StatusId: 2 }, 'COMPLETED'],
    [{ StatusId: '2', Description: 'Confirmado' }, 'COMPLETED'],
    [{ StatusId: 3, Description: 'ERROR' }, 'FAILED'],
    [{ StatusId: 3, Description: 'Saldo insuficiente' }, 'FAILED'],
    [{ StatusId: 3 }, 'FAILED'],
    [{ Description: 'CONFIRMED' }, 'COMPLETED'],
    [{ StatusId: 1, Description: 'Transferred' }, 'contradictory_status'],
    [{ StatusId: 2, Description: 'Error' }, 'contradictory_status'],
    [{ StatusId: 2, Description: 'Não confirmado' }, 'contradictory_status'],
    [{ StatusId: 3, Description: 'Scheduled' }, 'contradictory_status'],
    [{ StatusId: 3, Description: 'Agendado' }, 'contradictory_status'],
    [{ StatusId: 3, Description: 'CONFIRMED' }, 'contradictory_status'],
    [{ StatusId: 4, Description: 'Refunded' }, 'unknown_status'],
    [{ StatusId: 4, Description: 'CONFIRMED' }, 'unknown_status'],
    [{ StatusId: 2.5 }, 'unknown_status'],
    [{}, 'unknown_status'],
  ];
  for (const [code, read] of codes) {
    it(`${JSON.stringify(code)} is read as ${read}`, () => {
      const body = { TransactionType: 'PAYMENT', EndToEndId: endToEnd, StatusCode: code };
      const { status, ignoredBecause } = readOne({ RequestBody: body });
      const result = ignoredBecause === 'processing' ? status : (ignoredBecause ?? status);
      assert.equal(result, read);
    });
  }
});

describe('items that move nothing', () => {
  const items: readonly [string, unknown, WebhookItem['ignoredBecause']][] = [
    ['a text', 'hello', 'not_an_object'],
    ['null', null, 'not_an_object'],
    ['an account that was created', { event: 'CONTA_CRIADA', id: '1' }, 'conta_criada'],
    ['a reversal by its type', flat({ event: undefined, type: 'REVERTED' }), 'reversal'],
    ['a reversal by its entity', flat({ event: 'pix-reversal-out' }), 'reversal'],
    ['a reversal by its status', flat({ status: 'REFUNDED' }), 'reversal'],
    ['an event that is not known', flat({ event: 'BOLETO_PAID' }), 'unknown_event'],
    ['an unknown event of type pix', flat({ event: 'FOO', type: 'pix' }), 'unknown_event'],
    ['a status that is not known', flat({ status: 'PERHAPS' }), 'unknown_status'],
    ['a payment without a status', flat({ status: undefined }), 'unknown_status'],
    ['a status that is an object', flat({ status: { a: 1 } }), 'unknown_status'],
    ['an item without an id', flat({ endToEnd: undefined }), 'no_id'],
    ['an id that is too long', flat({ endToEnd: 'E'.repeat(256) }), 'no_id'],
    ['an id with a NUL', flat({ endToEnd: 'E1\u0000' }), 'no_id'],
    ['two end-to-end ids', flat({ transaction: { endToEndId: 'E2' } }), 'contradictory_id'],
    ['a payment of two spellings of a status', flat({ Status: 'ERROR' }), 'contradictory_status'],
    ['a status beside an unknown one', flat({ STATUS: 'PERHAPS' }), 'contradictory_status'],
    ['two spellings of an amount', flat({ Amount: 99 }), 'unreadable_amount'],
    ['two spellings of an end-to-end id', flat({ end_to_end: 'E2' }), 'contradictory_id'],
    ['two spellings of a request id', twice('clientRequestId', 'a', 'b'), 'contradictory_id'],
    ['two spellings of a txid', twice('transactionIdentification', 'a', 'b'), 'contradictory_id'],
    ["two spellings of the provider's id", twice('paymentId', 1, 2), 'contradictory_id'],
    [
      'two spellings of a key',
      { ...twice('pixKey', 'a', 'b'), event: 'PIX_IN' },
      'contradictory_id',
    ],
    ['two spellings of an object', twice('body', { a: 1 }, { a: 2 }), 'contradictory_id'],
    ['two spellings of an event', flat({ Event: 'PIX_IN' }), 'unknown_event'],
    ['a status against its event', flat({ event: 'MOVEMENT_FAILED' }), 'contradictory_status'],
    ['two statuses', flat({ body: { status: 'ERROR' } }), 'contradictory_status'],
    ['a payment under way', flat({ status: 'PENDING' }), 'processing'],
    ['a charge that was made', flat({ event: 'CHARGE_CREATED', status: null }), 'processing'],
    ['a received PIX that failed', flat({ event: 'PIX_IN', status: 'ERROR' }), 'not_received'],
    ['a received PIX under way', flat({ event: 'RECEIVEPIX', status: 'PENDING' }), 'processing'],
    ...[0, 1, 2, 3, 4, '2', '3'].flatMap(
      (status) =>
        [
          [
            `the bare status ${typeof status} ${status}`,
            flat({ status }),
            'unknown_status',
          ] as const,
          [
            `the bare id ${status}`,
            flat({ status: undefined, statusId: status }),
            'unknown_status',
          ],
          [
            `an id in another object ${status}`,
            flat({ status: { StatusId: status } }),
            'unknown_status',
          ],
          [
            `a bare status code ${status}`,
            flat({ status: null, statusCode: status }),
            'unknown_status',
          ],
        ] as [string, unknown, 'unknown_status'][],
    ),
    ...unlisted.map((changes): [string, unknown, 'unlisted_code'] => [
      `a failure without a listed code: ${JSON.stringify(changes)}`,
      flat({ status: 'ERROR', ...changes }),
      'unlisted_code',
    ]),
  ];
  for (const [title, item, because] of items) {
    it(`ignores ${title}`, () => {
      const event = readOne(item);
      assert.equal(event.ignoredBecause, because);
      assert.equal(event.kind, 'ignored');
    });
  }

  it('reads a name that is spelled twice where both say the same', () => {
    const event = readOne(
      flat({ Status: 'PAID', AMOUNT: '10.50', end_to_end: endToEnd, EVENT: 'PAYMENT' }),
    );
    assert.deepEqual(event, expected({}));
    const nothing = flat({ endToEnd: null, end_to_end: endToEnd });
    assert.deepEqual(readOne(nothing), expected({}));
  });

  it('keeps what an ignored item says', () => {
    const event = readOne(flat({ status: 'PROCESSING' }));
    assert.equal(event.status, 'PROCESSING');
    assert.equal(event.ids.endToEnd, endToEnd);
    assert.equal(event.amountCents, 1050);
  });
});

describe('amounts', () => {
  for (const [amount, cents] of [
    [0.01, 1],
    [4.35, 435],
    [1.1, 110],
    ['10', 1000],
    [' 10.5 ', 1050],
    [999999999.99, 99_999_999_999],
  ] as const) {
    it(`reads ${JSON.stringify(amount)} as ${cents} centavos, exactly`, () => {
      assert.equal(readOne(flat({ amount })).amountCents, cents);
    });
  }

  it('leaves an absent amount absent', () => {
    for (const amount of [undefined, null]) {
      const event = readOne(flat({ amount }));
      assert.deepEqual([event.kind, event.amountCents], ['payment', null]);
    }
  });

  for (const amount of [
    '10,50',
    'R$ 10.50',
    '',
    10.505,
    -10.5,
    0,
    1e12,
    true,
    [10.5],
    { original: '10.50' },
  ]) {
    it(`ignores an item whose amount is ${JSON.stringify(amount)}`, () => {
      const event = readOne(flat({ amount }));
      assert.deepEqual([event.ignoredBecause, event.amountCents], ['unreadable_amount', null]);
    });
  }

  it('reads the value of a pix object only in a unit that the item states', () => {
    const pix = (value: unknown, more: Record<string, unknown> = {}) =>
      readOne(flat({ amount: undefined, ...more, pix: { value } })).amountCents;
    const woovi = { event: 'OPENPIX:TRANSACTION_RECEIVED' };
    assert.deepEqual([pix(1050, woovi), pix(1050, { amount: 10.5 })], [1050, 1050]);
    assert.equal(pix(10.5, { amount: '10.50' }), 1050);
    assert.deepEqual([pix(150), pix(10.5), pix('10.50')], [null, null, null]);
    assert.deepEqual([pix(1051, { amount: 10.5 }), pix(10.5, woovi)], [null, null]);
    assert.equal(
      readOne(flat({ amount: undefined, pix: { value: 150 } })).ignoredBecause,
      'unreadable_amount',
    );
  });

  it('ignores an item with two different amounts, and takes the same one twice', () => {
    const inner = (value: unknown) => flat({ payment: { value } });
    assert.equal(readOne(inner(1050)).amountCents, 1050);
    assert.equal(readOne(inner(10.5)).ignoredBecause, 'unreadable_amount');
    assert.equal(readOne(inner(1051)).ignoredBecause, 'unreadable_amount');
  });
});

describe('what is passed on', () => {
  it('shows a cut and printable name', () => {
    const event = readOne(flat({ event: `a\u0007b\n${'x'.repeat(500)}` }));
    assert.match(event.name, /^abx{62}$/);
  });

  it('passes on no sentence as a reason', () => {
    assert.equal(readOne(flat({ status: 'ERROR', reason: 'Ana has no money' })).reason, null);
    assert.equal(readOne(flat({ status: 'ERROR', reason: 'AC03' })).reason, 'AC03');
  });

  it('keeps ids that contradict each other for the matcher', () => {
    const event = readOne(flat({ clientRequestId: 'key-2', transactionIdentification: txid }));
    assert.deepEqual(
      event.ids,
      ids({ endToEnd, clientRequestId: 'key-2', transactionIdentification: txid }),
    );
  });

  it('does not take the payer for the payee', () => {
    const item = flat({ event: 'RECEIVEPIX', document: '1', debitParty: { account: '2' } });
    assert.deepEqual(readOne(item).payee, noPayee);
  });
});

describe('any JSON', () => {
  const names = fc.constantFrom(
    'pix',
    'body',
    'RequestBody',
    'payment',
    'event',
    'status',
    'amount',
    'valor',
    'endToEnd',
    'error',
    'CreditParty',
    '__proto__',
  );
  const item = fc.dictionary(names, fc.oneof(fc.jsonValue(), fc.dictionary(names, fc.jsonValue())));

  it('never throws, and an item is ignored exactly when it says why', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), item, fc.array(item)), (payload) => {
        for (const [place, event] of readWebhookEvents(payload).entries()) {
          assert.equal(event.index, place);
          assert.equal(event.kind === 'ignored', event.ignoredBecause !== null);
          if (event.kind === 'ignored') continue;
          assert.ok(event.status === 'COMPLETED' || event.status === 'FAILED');
          assert.ok(Object.values(event.ids).some((id) => id !== null));
        }
      }),
    );
  });

  it('does not lose the other items of a payload to a bad one', () => {
    const bad = fc.oneof(fc.jsonValue({ maxDepth: 1 }), item).filter(isOneItem);
    fc.assert(
      fc.property(fc.array(bad), fc.array(bad), (before, after) => {
        const events = readWebhookEvents([...before, flat(), ...after]);
        assert.equal(events.length, before.length + 1 + after.length);
        assert.deepEqual(events[before.length], expected({ index: before.length }));
      }),
    );
  });
});

/** A list, and a `pix` list, has as many items as entries. */
function isOneItem(value: unknown): boolean {
  if (Array.isArray(value)) return false;
  if (typeof value !== 'object' || value === null) return true;
  return !Object.entries(value).some(([name, list]) => /^pix$/i.test(name) && Array.isArray(list));
}
