/** How messages are read, whatever their dialect. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { unreadReasons, type WebhookItem } from '../../../../src/provider/webhook-events.ts';
import { Dialects } from '../../../../src/provider/dialect/dialects.ts';
import { dialects } from '../../../support/dialects.ts';
import { endToEnd, expected, flat, ids, noPayee, txid } from '../webhook-shapes.ts';

function readOne(payload: unknown): WebhookItem {
  const [item, ...others] = dialects.readEvents(payload);
  assert.ok(item && others.length === 0);
  return item;
}

const summary = (payload: unknown) =>
  dialects
    .readEvents(payload)
    .map(({ index, kind, ignoredBecause }) => [index, ignoredBecause ?? kind]);

describe('the items of a payload', () => {
  const one = { endToEndId: endToEnd, valor: '10.50' };

  it('are numbered through, lists in lists included', () => {
    const batch = [flat(), { PIX: [one, one] }, [flat()], flat()];
    const kinds = ['payment', 'received', 'received', 'payment', 'payment'];
    assert.deepEqual(
      summary(batch),
      kinds.map((kind, index) => [index, kind]),
    );
    assert.deepEqual(summary([[[flat()]]]), [[0, 'not_an_object']]);
  });

  it('stand before the returns of all of them, whose places thus never shift', () => {
    const rtrId = 'D00000000202605241700aB3dE5gH7jK';
    const devolucoes = [{ rtrId, valor: '4.05', status: 'DEVOLVIDO' }];
    const items = summary({ pix: [{ ...one, devolucoes }, one] });
    assert.deepEqual(items, [
      [0, 'received'],
      [1, 'received'],
      [2, 'refund'],
    ]);
  });

  it('are none in an empty list, and one without any in an empty list of a shape', () => {
    assert.deepEqual(summary([]), []);
    assert.deepEqual(summary({ pix: [] }), [[0, 'no_items']]);
    const paid = { txid, status: 'CONCLUIDA', valor: { original: '10.50' }, pix: [] };
    assert.deepEqual(summary(paid), [[0, 'unknown_shape']]);
    assert.deepEqual(summary({ pix: [7, null] }), [
      [0, 'not_an_object'],
      [1, 'not_an_object'],
    ]);
  });

  it('that are empty are skipped after the first hundred, and keep their places', () => {
    for (const nothing of [0, null, 'text', {}]) {
      const many = Array.from({ length: 5_000 }, () => nothing);
      const events = dialects.readEvents([...many, flat(), ...many, flat()]);
      assert.equal(events.length, 102);
      assert.deepEqual(events.slice(100), [
        expected({ index: 5_000 }),
        expected({ index: 10_001 }),
      ]);
    }
  });

  it('are all read, however many a payload has room for', () => {
    const items = Array.from({ length: 12_000 }, (_, nth) => ({ id: nth, status: 'PAID' }));
    assert.equal(dialects.readEvents(items).length, 12_000);
  });
});

describe('a field', () => {
  it('inside a text, a number or a list is unreadable, never absent', () => {
    const request = { EndToEndId: endToEnd, TransactionIdentification: txid, Amount: 12.34 };
    const receivedPix = { TransactionType: 'RECEIVEPIX', ...request };
    const movement = { event: 'MOVEMENT_FAILED', payment: { value: 1050, correlationID: 'key' } };
    const received = { endToEndId: endToEnd, txid, valor: '12.34' };
    const cases: readonly [payload: unknown, because: string][] = [
      [{ RequestBody: { ...receivedPix, StatusCode: 3 } }, 'unknown_status'],
      [{ RequestBody: { ...receivedPix, StatusCode: ['ERROR'] } }, 'unknown_status'],
      [{ RequestBody: { ...receivedPix, CreditParty: 'ana@ponte.test' } }, 'unreadable_payee'],
      [{ pix: [{ ...received, recebedor: '52998224725' }] }, 'unreadable_payee'],
      [{ ...movement, error: 'AB11' }, 'unlisted_code'],
      [{ ...movement, transaction: 'E1' }, 'unreadable_id'],
    ];
    for (const [payload, because] of cases) assert.equal(readOne(payload).ignoredBecause, because);
    assert.equal(readOne({ pix: [{ ...received, recebedor: '' }] }).kind, 'received');
  });

  it('is read in any spelling of its name, where all spellings say the same', () => {
    const shouted = {
      EVENT: 'pix_payment',
      END_TO_END_ID: endToEnd,
      Status: ' paid ',
      AMOUNT: 10.5,
    };
    assert.deepEqual(readOne(shouted), expected({ name: 'pix_payment' }));
    assert.deepEqual(readOne(flat({ endToEnd: null, end_to_end: endToEnd })), expected({}));
  });

  const refused = { status: 'ERROR', code: 'AC03' };
  const ends: readonly [WebhookItem['status'], Record<string, unknown>][] = [
    ['COMPLETED', { error: null }],
    ['COMPLETED', { rejected: false, paid: '', failed: 1 }],
    ['COMPLETED', { payer: { email: { confirmed: false } } }],
    ['COMPLETED', { details: { fraudCheck: { code: 'AC03' } } }],
    ['FAILED', { ...refused, details: { motivo: 'ERRO' } }],
    ['COMPLETED', { error: { code: null, message: '' } }],
    ['FAILED', { ...refused, creditParty: { bank: { code: '341' } } }],
    ['FAILED', { ...refused, success: false }],
  ];
  for (const [status, said] of ends) {
    it(`reads ${status} beside ${JSON.stringify(said)}`, () => {
      const { ignoredBecause, ...read } = readOne(flat({ status: 'CONFIRMED', ...said }));
      assert.deepEqual([ignoredBecause, read.status], [null, status]);
    });
  }

  const contradictions: readonly [WebhookItem['ignoredBecause'], Record<string, unknown>][] = [
    ['contradictory_status', { Status: 'ERROR' }],
    ['contradictory_status', { statusDescription: 'FAILED' }],
    ['contradictory_status', { success: false }],
    ['contradictory_status', { details: { httpStatus: 422 } }],
    ['contradictory_status', { rejectCode: 'AC03' }],
    ['contradictory_status', { subCode: 'AC03' }],
    ['contradictory_status', { paid: false }],
    ['contradictory_status', { rejected: true }],
    ['contradictory_status', { negado: 'Sim' }],
    ['contradictory_status', { declined: 'yes' }],
    ['contradictory_status', { ...refused, success: true }],
    ['contradictory_status', { ...refused, details: { situacao: 'LIQUIDADA' } }],
    ['contradictory_status', { ...refused, liquidada: true }],
    ['contradictory_status', { ...refused, details: { motivo: 'AM05' } }],
    ['contradictory_status', { ...refused, codes: ['AC03', 'DUPL'] }],
    ['contradictory_status', { ...refused, statusDescription: 'CONFIRMED' }],
    ['contradictory_status', { ...refused, details: [{ code: 'AM05' }] }],
    ['contradictory_id', { end_to_end: 'E2' }],
    ['contradictory_id', { endToEndId: 'E2' }],
    ['unreadable_amount', { Amount: 99 }],
    ['unreadable_amount', { valor: '10.51' }],
    ['contradictory_code', { reason: 'AC03' }],
    ['contradictory_code', { error: { code: 'ac03' } }],
    ['contradictory_code', { status: 'ERROR', reason: 'AC03', errorCode: 'BE17' }],
    ['unknown_shape', { Event: 'PIX_IN' }],
  ];
  for (const [because, changes] of contradictions) {
    it(`that says two things is ${because}: ${JSON.stringify(changes)}`, () => {
      assert.equal(readOne(flat(changes)).ignoredBecause, because);
    });
  }

  it('with a code that is not listed does not contradict a success', () => {
    assert.deepEqual(readOne(flat({ code: '00' })), expected({ reason: '00' }));
  });

  it('is compared by ASCII letters only', () => {
    assert.equal(readOne(flat({ status: 'paıd' })).ignoredBecause, 'unknown_status');
    assert.equal(readOne(flat({ status: 'PAID\u0130' })).ignoredBecause, 'unknown_status');
  });

  it('with a name that another message reads makes this one unread', () => {
    for (const name of ['state', 'StatusCode', 'value', 'payment', 'gnExtras', 'horario_']) {
      const item = readOne(flat({ [name]: 'x' }));
      const isGuarded = name !== 'horario_';
      assert.equal(item.ignoredBecause, isGuarded ? 'undeclared_field' : null, name);
    }
    assert.deepEqual(readOne(flat({ message: 'anything', nonce: 7 })), expected({}));
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
    it(`${JSON.stringify(amount)} is ${cents} centavos, exactly`, () => {
      assert.equal(readOne(flat({ amount })).amountCents, cents);
    });
  }

  for (const amount of ['10,50', 'R$ 10.50', '', 10.505, -10.5, 0, 1e12, true, [10.5], { a: 1 }]) {
    it(`${JSON.stringify(amount)} is unreadable`, () => {
      const { ignoredBecause, amountCents } = readOne(flat({ amount }));
      assert.deepEqual([ignoredBecause, amountCents], ['unreadable_amount', null]);
    });
  }

  it('have the unit that the shape declares, and no other', () => {
    const woovi = (value: unknown) =>
      readOne({ event: 'OPENPIX:TRANSACTION_RECEIVED', pix: { value, endToEndId: endToEnd } });
    assert.equal(woovi(150).amountCents, 150);
    assert.equal(woovi(1.5).ignoredBecause, 'unreadable_amount');
    assert.equal(readOne({ pix: [{ endToEndId: endToEnd, valor: 150 }] }).amountCents, null);
  });
});

describe('what no shape reads', () => {
  it('keeps its ids, so that the payment that waits for it is found', () => {
    const item = readOne({ event: 'SOMETHING', endToEndId: endToEnd, txid, clientCode: 'key-1' });
    const named = { endToEnd, clientRequestId: 'key-1', transactionIdentification: txid };
    assert.deepEqual([item.ignoredBecause, item.ids], ['unknown_event', ids(named)]);
    const twofold = { endToEndId: endToEnd, end_to_end_id: 'E2', valor: '1.00' };
    for (const payload of [flat({ end_to_end: 'E2' }), { pix: [twofold] }]) {
      assert.equal(readOne(payload).ids.endToEnd, endToEnd);
    }
  });

  it('passes on a word, and no text that may be a person’s', () => {
    const readWord = (status: unknown) => readOne(flat({ status })).word;
    assert.deepEqual(['SENT', 'settled_ok', 2].map(readWord), ['SENT', 'settled_ok', '2']);
    const personal = ['Maria da Silva', '52998224725', 'ana@ponte.test', 'x'.repeat(65), {}];
    assert.deepEqual(
      personal.map(readWord),
      personal.map(() => null),
    );
    const evp = readOne({ event: '123e4567-e12b-12d1-a456-426655440000' });
    assert.equal(evp.word, null);
  });

  it('is read by no shape where two match, which loading prevents', () => {
    const [shape] = dialects.shapes;
    assert.ok(shape);
    const twice = new Dialects({
      shapes: [shape, { ...shape, name: 'other/payment' }],
      markers: [],
      refusals: new Map(),
      signs: dialects.signs,
    });
    assert.equal(twice.readEvents(flat())[0]?.ignoredBecause, 'ambiguous_shape');
  });
});

describe('any JSON', () => {
  const names = fc.constantFrom(
    ...(
      'pix body RequestBody payment event entity status amount valor endToEnd endToEndId txid ' +
      'error creditParty devolucoes __proto__'
    ).split(' '),
  );
  const words = fc.constantFrom('PAID', 'PIX_PAYMENT', 'pix-payment-out', '10.50', 'E1', 10.5);
  const value = fc.oneof(
    words,
    fc.jsonValue(),
    fc.dictionary(names, fc.oneof(words, fc.jsonValue())),
  );
  const item = fc.dictionary(names, value);

  it('never throws, and an item is ignored exactly when it says why', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), item, fc.array(item)), (payload) => {
        for (const event of dialects.readEvents(payload)) {
          assert.equal(event.kind === 'ignored', event.ignoredBecause !== null);
          if (event.kind === 'ignored') continue;
          assert.ok(event.status === 'COMPLETED' || event.status === 'FAILED');
          assert.ok(event.shape !== null);
          assert.ok(Object.values(event.ids).some((id) => id !== null));
        }
      }),
    );
  });

  it('does not lose the other items of a payload to a bad one', () => {
    const bad = item.filter(
      (one) => !Object.keys(one).some((name) => /^(?:pix|devolucoes)$/.test(name)),
    );
    fc.assert(
      fc.property(fc.array(bad, { maxLength: 20 }), fc.array(bad), (before, after) => {
        const events = dialects.readEvents([...before, flat(), ...after]);
        assert.deepEqual(events[before.length], expected({ index: before.length }));
      }),
    );
  });
});

describe('a word with accents', () => {
  it('is the same in every case', () => {
    for (const ambiente of ['HOMOLOGAÇÃO', 'Homologação', 'homologação']) {
      assert.equal(readOne(flat({ ambiente })).ignoredBecause, 'test');
    }
    for (const teste of ['NÃO', 'Não', 'não'])
      assert.equal(readOne(flat({ teste })).kind, 'payment');
  });

  it('is the same in a name', () => {
    for (const name of ['homologação', 'Homologacao', 'HOMOLOGAÇÃO'.normalize('NFD')]) {
      assert.equal(readOne(flat({ [name]: true })).ignoredBecause, 'test');
    }
    assert.equal(readOne(flat({ situação: 'FAILED' })).ignoredBecause, 'undeclared_field');
  });

  it('names an environment without customers', () => {
    for (const environment of [
      'tst',
      'PREPROD',
      'Pré-produção',
      'sbx',
      'non-prod',
      'não produção',
    ]) {
      assert.equal(readOne(flat({ environment })).ignoredBecause, 'test');
    }
    for (const environment of ['production', 'PRD', 'produção', 'live']) {
      assert.equal(readOne(flat({ environment })).kind, 'payment');
    }
  });

  it('names another method than Pix', () => {
    const charge = { event: 'CHARGE_COMPLETED', txid, status: 'PAID', amount: 10.5 };
    for (const formaPagamento of [
      'cartão de crédito',
      'cartao de débito',
      'Cartão-Crédito',
      'Boleto Bancário',
      'boleto bancario',
      'Credit Card',
      'creditCard',
      'Boleto_Pix',
      'BOLEPIX',
      'ticket',
    ]) {
      assert.equal(readOne({ ...charge, formaPagamento }).ignoredBecause, 'other_method');
    }
    for (const formaPagamento of ['Pix', 'PIX - Chave', 'Conta Crédito']) {
      assert.equal(readOne({ ...charge, formaPagamento }).kind, 'received');
    }
    for (const paymentMethod of [
      'DINHEIRO',
      'CREDIT',
      'debito',
      'account_money',
      { name: 'BOLETO' },
    ]) {
      assert.equal(readOne({ ...charge, paymentMethod }).ignoredBecause, 'other_method');
    }
    assert.equal(readOne({ ...charge, cardBrand: 'x' }).ignoredBecause, 'other_method');
    const fee = { tarifa: { tipo: 'TED' }, pagador: { type: 'CARD' } };
    assert.equal(readOne({ ...charge, ...fee }).kind, 'received');
    for (const name of ['paidBy', 'paidVia', 'payment_method_id', 'método', 'forma']) {
      assert.equal(readOne({ ...charge, [name]: 'boleto' }).ignoredBecause, 'other_method');
    }
  });
});

describe('a return id that stands as the end-to-end id', () => {
  const returnId = 'D00000000202605241700aB3dE5gH7jK';
  const pix = { endToEndId: returnId, value: 500, status: 'CONFIRMED', type: 'REFUND' };
  const body = { id: '1', endToEndId: returnId, amount: 5 };
  for (const [dialect, payload] of Object.entries({
    woovi: { event: 'OPENPIX:TRANSACTION_RECEIVED', charge: null, pix },
    bacen: { pix: [{ endToEndId: returnId, valor: '5.00', chave: 'ana@ponte.test' }] },
    celcoin: { entity: 'pix-payment-in', status: 'CONFIRMED', body },
    ponte: { event: 'PIX_RECEIVED', endToEnd: returnId, amount: 5 },
  })) {
    it(`makes no received Pix of ${dialect}: the money would be recorded beside its refund`, () => {
      const { kind, ignoredBecause, ids: read } = readOne(payload);
      assert.deepEqual([kind, ignoredBecause], ['ignored', 'unreadable_id']);
      assert.equal(read.endToEnd, returnId);
    });
  }
});

it('a masked document of the payee is read as such, and contradicts another one', () => {
  const cpf = '***.982.247-**';
  const read = (payee: object) =>
    readOne({ event: 'PIX_RECEIVED', endToEnd, amount: 5, payee }).payee;
  assert.deepEqual(read({ cpf }), { ...noPayee, maskedDocument: '***982247**' });
  const both = { ...noPayee, document: '52998224725', maskedDocument: '***982247**' };
  assert.deepEqual(read({ cpf, document: '529.982.247-25' }), both);
  const contradictory = { ...noPayee, isContradictory: true };
  assert.deepEqual(read({ cpf, document: '111.444.777-35' }), contradictory);
});

it('a return id beside the end-to-end id is the id of the return', () => {
  const returnId = 'D00000000202605241700aB3dE5gH7jK';
  const event = { event: 'PIX_REFUND_IN', status: 'CONFIRMED', amount: 5, endToEnd: returnId };
  const refund = readOne({ ...event, returnId, originalEndToEnd: endToEnd });
  assert.deepEqual(
    [refund.kind, refund.ids.endToEnd, refund.refund?.returnId],
    ['refund', endToEnd, returnId],
  );
  assert.equal(readOne({ ...event, returnId }).ids.endToEnd, returnId);
  const other = `${returnId.slice(0, -1)}0`;
  const contradictory = readOne({ ...event, returnId: other, originalEndToEnd: endToEnd });
  assert.equal(contradictory.ignoredBecause, 'contradictory_id');
});

it('the reasons that are counted are all of those that a dialect can mend', () => {
  assert.equal(new Set(unreadReasons).size, unreadReasons.length);
});
