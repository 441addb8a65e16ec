/** Mutations of payments with a confirmed look-up: see `mutations.ts`. */
import { isConstraintViolation } from '../../src/db/unavailable.ts';
import { paymentStatements } from '../../src/ledger/payment-repository.ts';
import { sendPix } from '../../src/pix/send-pix.ts';
import type { Sealer } from '../../src/security/sealing.ts';
import { intercepted } from '../support/intercepted.ts';
import { manyPayments, type Deviation, type Mutation } from './deviation.ts';

type Call = Parameters<typeof sendPix.run>[1];
type Open = Sealer['open'];

/** Sends that open a `lookup_id` in another way. */
function openingLookUps(change: (open: Open, call: Call) => Open): Deviation {
  return {
    send: {
      ...sendPix,
      run(context, call) {
        const open: Open = (sealed, owner) => context.sealer.open(sealed, owner);
        const changed = change(open, call);
        const isLookUp = (owner: string): boolean => owner.startsWith('look-up:');
        const changedOpen: Open = (sealed, owner) =>
          (isLookUp(owner) ? changed : open)(sealed, owner);
        const sealer = { ...context.sealer, open: changedOpen };
        return sendPix.run({ ...context, sealer }, call);
      },
    },
  };
}

/** Look-ups whose content differs from the sealed one. */
function readingLookUps(change: (call: Call) => object): Deviation {
  return openingLookUps((open, call) => (sealed, owner) => {
    const content: unknown = JSON.parse(open(sealed, owner).toString('utf8'));
    return Buffer.from(JSON.stringify(Object.assign(content as object, change(call))));
  });
}

/** The ids of the customers in the store. */
const userIds = [1, 2, 3] as const;

const openedForAnyone = openingLookUps((open) => (sealed, owner) => {
  for (const id of userIds) {
    try {
      return open(sealed, `look-up:${id}`);
    } catch {
      // It belongs to another customer.
    }
  }
  return open(sealed, owner);
});

const ignored: Deviation = {
  send: {
    ...sendPix,
    run(context, call) {
      const { input } = call;
      const body = { ...input.body, lookup_id: undefined };
      return sendPix.run(context, { ...call, input: { ...input, body } });
    },
  },
};

/** A send whose end-to-end id is already used is stored, and sent, with another id. */
const paidUnderTwoKeys: Deviation = {
  db: (db) =>
    intercepted(db, (run) => async (statement, parameters) => {
      try {
        return await run(statement, parameters);
      } catch (error) {
        if (statement !== paymentStatements.step || !isConstraintViolation(error)) throw error;
        const endToEnd = `${String(parameters['endToEnd'])}-again`;
        return run(statement, { ...parameters, endToEnd });
      }
    }),
};

export const mutationsOfLookUps: readonly Mutation[] = [
  {
    name: 'an expired look-up is paid',
    deviation: readingLookUps(() => ({ expiresAtMs: Number.MAX_SAFE_INTEGER })),
  },
  {
    name: 'a look-up of another PIX key is paid',
    deviation: {
      ...readingLookUps(({ input }) => ({ key: input.body.pix_key })),
      profile: manyPayments,
    },
  },
  {
    name: 'a look-up of another user is paid',
    deviation: { ...openedForAnyone, profile: manyPayments },
  },
  { name: 'a confirmed look-up is ignored', deviation: ignored },
  { name: 'one look-up is paid with two idempotency keys', deviation: paidUnderTwoKeys },
];
