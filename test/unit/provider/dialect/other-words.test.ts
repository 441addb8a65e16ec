/** A word of an event, a status or a code that no shape reads: the message may say anything. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { dialectNames } from '../../../../src/config/formats.ts';
import { readSample, type Sample } from '../../../../src/provider/dialect/samples.ts';
import { isObject } from '../../../../src/provider/wire-reading.ts';
import { dialects } from '../../../support/dialects.ts';
import { endToEnd, flat, txid } from '../webhook-shapes.ts';

type Message = Readonly<Record<string, unknown>>;

const failed = { endToEndId: endToEnd, status: 'REJECTED', errorCode: 'AC03', amount: 10.5 };
const paid = { endToEndId: endToEnd, status: 'CONFIRMED', amount: 10.5 };
const charge = { transactionIdentification: txid, status: 'SUCCESS', amount: 12.34 };
const received = { type: 'PIX_IN', endToEnd, key: 'ana@ponte.test', amount: 5 };
const refunded = { event: 'PIX_REFUND', endToEnd, amount: 5 };
const pix = { endToEndId: endToEnd, valor: '10.50' };

function isUndeclared(message: unknown): void {
  const [item] = dialects.readEvents(message);
  assert.equal(item?.ignoredBecause, 'undeclared_field', JSON.stringify(message));
}

const names =
  'eventType event_type webhook_type evento tipo tipoEvento tipoOperacao operation operationType ' +
  'action kind topic notificationType messageType subType movementType eventName detail-type ' +
  'Event-Name';

describe('the word of an event under another name is of no shape:', () => {
  for (const name of names.split(' ')) {
    it(name, () => {
      for (const known of [failed, paid, charge, received, flat(), refunded]) {
        isUndeclared({ ...known, [name]: 'PIX_REFUND' });
      }
      isUndeclared({ [name]: 'pix.refund', pix: [pix] });
      isUndeclared({ pix: [{ ...pix, [name]: 'DEVOLUCAO' }] });
      isUndeclared({ ...paid, [name]: { code: 1, name: 'PIX_REFUND' } });
      isUndeclared({ ...paid, [name]: ['PIX_REFUND'] });
    });
  }

  it('also where it counts only without another word', () => {
    for (const name of ['category', 'object', 'name', 'subject', 'resource', 'webhook']) {
      for (const known of [failed, paid, charge]) {
        isUndeclared({ ...known, [name]: 'refund' });
        isUndeclared({ ...known, [name]: { type: 'refund' } });
      }
      assert.equal(dialects.readEvents({ ...flat(), [name]: 'refund' })[0]?.ignoredBecause, null);
    }
  });

  it('also beside the word of a shape inside an object', () => {
    const body = { TransactionType: 'PAYMENT', EndToEndId: endToEnd, StatusCode: { StatusId: 2 } };
    isUndeclared({ RequestBody: { ...body, Operation: 'REVERSAL' } });
    isUndeclared({ RequestBody: body, action: 'REVERSAL' });
  });
});

it('a second status that no shape reads is no status', () => {
  for (const name of (
    'status_detail subStatus currentStatus finalStatus statusPix statusTransacao ' +
    'statusTransaction pix_transfer_status settlementStatus paymentState situacaoPagamento fase'
  ).split(' ')) {
    for (const known of [failed, paid, charge, received, flat()]) {
      isUndeclared({ ...known, [name]: 'PENDING' });
    }
  }
});

describe('a charge with its code, whose status may be that of the creation,', () => {
  const codes = ['emv', 'qrCode', 'qr_code_image', 'pixCopiaECola', 'brCode'];
  for (const name of codes) {
    it(`is not paid: ${name}`, () => {
      isUndeclared({ id: '1', ...charge, [name]: '000201…' });
      isUndeclared({ id: '1', status: 'SUCCESS', amount: 12.34, [name]: '000201…' });
      isUndeclared({ event: 'PIX_CHARGE', ...charge, [name]: '000201…' });
    });
  }

  it('is paid where its word says so', () => {
    const [item] = dialects.readEvents({ event: 'CHARGE_COMPLETED', ...charge, emv: '000201…' });
    assert.deepEqual([item?.ignoredBecause, item?.status], [null, 'COMPLETED']);
  });
});

const party = { name: 'Fulano', category: 'x', kind: 'PF', action: 'x', object: { type: 'x' } };

/** A message with further fields that say nothing, also in the objects that it has. */
function extended(message: Message): Message {
  const inner = Object.entries(message).map(([name, value]) => [name, extendInner(name, value)]);
  const hasWord = ['event', 'type', 'entity', 'EVENT'].some((name) => name in message);
  return {
    payer: party,
    object: { id: '1' },
    operation: null,
    tipo: '',
    note: 'x',
    ...(hasWord && { name: 'Fulano', category: 'x', resource: '/pix', object: { type: 'x' } }),
    ...Object.fromEntries(inner),
  };
}

function extendInner(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return name === 'pix' ? value.map(extended) : value;
  // The word of an event stands in a RequestBody, and a return is a message.
  if (!isObject(value) || ['RequestBody', 'devolucoes'].includes(name)) return value;
  return { ...party, ...value };
}

describe('a field that is no word of an event changes nothing:', () => {
  for (const dialect of dialectNames) {
    const path = `../../../../contract/provider/dialects/${dialect}.samples.json`;
    const samples = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Sample[];
    for (const { name, event, reads } of samples) {
      if (!isObject(event)) continue;
      it(`${dialect}, ${name}`, () => {
        const { items } = readSample(dialects, { event: extended(event) });
        assert.deepEqual(
          items.map(({ result }) => result),
          reads,
        );
      });
    }
  }
});
