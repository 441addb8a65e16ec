/** The dialects read every event that the bank of the simulation calls readable, and no other. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Chance } from '../../../simulation/chance.ts';
import { writeExpiryNotice, writeRefundNotice } from '../../../simulation/bank/later-notices.ts';
import type { Charge, Receipt, Refund } from '../../../simulation/bank/ledger.ts';
import { writeNotice } from '../../../simulation/bank/notices.ts';
import { writeReceivedNotice } from '../../../simulation/bank/received-notices.ts';
import {
  knownVocabularies,
  numberVocabulary,
  unknownVocabulary,
  unlistedCodes,
} from '../../../simulation/bank/words.ts';
import { dialects } from '../../../support/dialects.ts';

const endToEnd = 'E11165756202605241530aB3dE5gH7jK';
const returnId = 'D11165756202605241530aB3dE5gH7jK';
const txid = 'Q7w8E9r0T1y2U3i4O5p6A7s8D9';
const key = '8f14e45f-ceea-467f-a9d2-6b6f5f1f2c11';
const amountCents = 1057;

/** Enough draws for every format with every vocabulary. */
const seeds = Array.from({ length: 400 }, (_, seed) => seed);
const vocabularies = [...knownVocabularies, numberVocabulary, unknownVocabulary] as const;

interface Written {
  readonly payload: Buffer;
  readonly isReadable: boolean;
}

/** Whether each readable event is read so, and each unreadable one moves nothing. */
function reads(write: (chance: Chance) => Written, expected: object): void {
  const found = new Set<boolean>();
  for (const seed of seeds) {
    const { payload, isReadable } = write(new Chance(seed));
    found.add(isReadable);
    const [item, ...others] = [...dialects.eachStoredEvent(payload)];
    assert.deepEqual(others, []);
    assert.ok(item);
    const { kind, status, ignoredBecause, amountCents: cents, ids } = item;
    if (isReadable) {
      const actual = { kind, status, ignoredBecause, amountCents: cents, endToEnd: ids.endToEnd };
      assert.deepEqual(
        actual,
        { ignoredBecause: null, amountCents, endToEnd, ...expected },
        payload.toString(),
      );
    } else {
      assert.equal(kind, 'ignored', payload.toString());
    }
  }
  assert.ok(found.has(true));
}

describe('an event of the simulated bank is read:', () => {
  const ids = { endToEnd, clientRequestId: key };

  it('a payment that was completed', () => {
    const facts = { ...ids, status: 'completed', amountCents } as const;
    reads((chance) => writeNotice(chance, facts, chance.pick(vocabularies)), {
      kind: 'payment',
      status: 'COMPLETED',
    });
  });

  it('a payment that has failed', () => {
    for (const error of [undefined, { code: 'AC03', description: 'Conta inválida' }]) {
      const facts = { ...ids, status: 'failed', amountCents, ...(error && { error }) } as const;
      reads((chance) => writeNotice(chance, facts, chance.pick(vocabularies)), {
        kind: 'payment',
        status: 'FAILED',
      });
    }
  });

  it('a payment that is named by the bank alone, or has no amount', () => {
    const facts = {
      status: 'completed',
      bankId: 'b-1',
      endToEnd: null,
      clientRequestId: null,
    } as const;
    reads(
      (chance) => writeNotice(chance, { ...facts, amountCents: null }, chance.pick(vocabularies)),
      {
        kind: 'payment',
        status: 'COMPLETED',
        amountCents: null,
        endToEnd: null,
      },
    );
  });

  it('a code that no table has moves nothing', () => {
    for (const code of unlistedCodes) {
      const facts = { ...ids, status: 'failed', amountCents, error: { code } } as const;
      for (const seed of seeds) {
        const { payload } = writeNotice(new Chance(seed), facts, knownVocabularies[0]);
        const [item] = [...dialects.eachStoredEvent(payload)];
        assert.equal(item?.ignoredBecause, 'unlisted_code', payload.toString());
      }
    }
  });

  it('a received Pix, with and without a charge and its payee', () => {
    const receipt = { endToEnd, amountCents, bankId: 'b-2', atMs: 1_780_000_000_000 } as Receipt;
    const all = { key, document: '52998224725', agency: '0001', accountNumber: '123456' };
    const none = { key: null, document: null, agency: null, accountNumber: null };
    for (const payee of [all, none, { ...none, key }]) {
      for (const paid of [txid, null]) {
        const facts = { receipt, txid: paid, payee };
        reads((chance) => writeReceivedNotice(chance, facts, chance.pick(vocabularies)), {
          kind: 'received',
          status: 'COMPLETED',
        });
      }
    }
  });

  it('a refund, and a charge that has expired', () => {
    for (const direction of ['in', 'out'] as const) {
      const refund = { direction, endToEnd, returnId, amountCents } as Refund;
      reads((chance) => writeRefundNotice(chance, refund, chance.pick(vocabularies)), {
        kind: 'refund',
        status: 'COMPLETED',
      });
    }
    const charge = { txid, amountCents } as Charge;
    reads((chance) => writeExpiryNotice(chance, charge), {
      kind: 'expired',
      status: 'FAILED',
      endToEnd: null,
    });
  });
});
