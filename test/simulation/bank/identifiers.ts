/** The identifiers that a PIX may name its payee by, and what they prove. */
import type { Chance } from '../chance.ts';
import type { StoredCustomer } from '../store.ts';
import { listedKeyOf } from './listed-key.ts';

/** Whom an event names; what is null is left out. */
export interface PayeeIdentifiers {
  readonly key: string | null;
  readonly document: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

/** An event that names nobody. */
export const nobody: PayeeIdentifiers = {
  key: null,
  document: null,
  agency: null,
  accountNumber: null,
};

/** @returns every identifier of a customer. */
export function allOf(customer: StoredCustomer): PayeeIdentifiers {
  const { agency, accountNumber, document } = customer.account;
  return { key: listedKeyOf(customer), document, agency, accountNumber };
}

/** Whether a key is one of a customer's: the one that is listed, or the document. */
export function hasKey(customer: StoredCustomer, key: string): boolean {
  return key === listedKeyOf(customer) || key === customer.account.document;
}

/** Whether every identifier is the customer's, and one of them is proof enough. */
export function identify(customer: StoredCustomer, given: PayeeIdentifiers): boolean {
  return agree(customer, given) && prove(given);
}

function agree(customer: StoredCustomer, given: PayeeIdentifiers): boolean {
  const { agency, accountNumber, document } = customer.account;
  return (
    (given.key === null || hasKey(customer, given.key)) &&
    [null, document].includes(given.document) &&
    [null, agency].includes(given.agency) &&
    [null, accountNumber].includes(given.accountNumber)
  );
}

/** The agency with the number, the holder's document, or a key. */
function prove({ key, document, agency, accountNumber }: PayeeIdentifiers): boolean {
  return key !== null || document !== null || (agency !== null && accountNumber !== null);
}

/**
 * Draws what an event says of a payee.
 * @param others the other customers, whose identifiers may be mixed in.
 */
export function drawIdentifiers(
  chance: Chance,
  payee: StoredCustomer,
  others: readonly StoredCustomer[],
): PayeeIdentifiers {
  const { agency, accountNumber, document } = payee.account;
  const all = allOf(payee);
  const right = chance.pick<PayeeIdentifiers>([
    all,
    { ...nobody, agency, accountNumber },
    { ...nobody, document },
    { ...nobody, key: all.key },
    { ...nobody, key: document },
    { ...all, key: null },
  ]);
  switch (chance.pick(['right', 'right', 'right', 'few', 'mixed'])) {
    case 'few':
      // The e-mail that was typed at registration, and a number without its agency, prove nothing.
      return chance.pick([nobody, { ...nobody, accountNumber }, { ...nobody, key: payee.email }]);
    case 'mixed': {
      const mixed = mix(chance, right, others);
      // An event that names another customer in every part is believed: nobody could know better.
      return others.some((one) => identify(one, mixed)) ? nobody : mixed;
    }
    default:
      return right;
  }
}

/** Replaces one identifier by another customer's or by nobody's, or adds it. */
function mix(
  chance: Chance,
  right: PayeeIdentifiers,
  others: readonly StoredCustomer[],
): PayeeIdentifiers {
  const [other] = chance.shuffled(others);
  const { accountNumber, document } = other?.account ?? foreign;
  const isNobody = !other || chance.happens(0.3);
  return chance.pick<PayeeIdentifiers>([
    { ...right, document: isNobody ? foreign.document : document },
    { ...right, agency: foreign.agency, accountNumber: right.accountNumber ?? accountNumber },
    { ...right, agency: '0001', accountNumber: isNobody ? foreign.accountNumber : accountNumber },
    { ...right, key: isNobody ? 'nobody@pix.test' : listedKeyOf(other) },
  ]);
}

/** Nobody's here. */
const foreign = { agency: '0777', accountNumber: '99999', document: '93541134780' } as const;
