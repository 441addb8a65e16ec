/** The identifiers by which a PIX may name its payee, and what they prove. */
import type { Chance } from '../chance.ts';
import type { StoredCustomer } from '../store.ts';
import { toListedKey, portableKey, portableKeyOwners } from './listed-key.ts';

/** The identifiers of the payee in an event; null: the event omits it. */
export interface PayeeIdentifiers {
  readonly key: string | null;
  readonly document: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

/** An event that names no payee. */
export const noIdentifiers: PayeeIdentifiers = {
  key: null,
  document: null,
  agency: null,
  accountNumber: null,
};

/** @returns every identifier of a customer. */
export function toPayeeIdentifiers(customer: StoredCustomer): PayeeIdentifiers {
  const { agency, accountNumber, document } = customer.account;
  return { key: toListedKey(customer), document, agency, accountNumber };
}

/** Whether a key belongs to a customer in the end: a listed key, or the document. */
export function hasKey(customer: StoredCustomer, key: string): boolean {
  const isPortable = key === portableKey && customer.name === portableKeyOwners[1];
  return isPortable || key === toListedKey(customer) || key === customer.account.document;
}

/** Whether every identifier belongs to the customer, and together they prove the payee. */
export function identify(customer: StoredCustomer, identifiers: PayeeIdentifiers): boolean {
  return agree(customer, identifiers) && prove(identifiers);
}

/** Whether no identifier is another's. */
export function agree(customer: StoredCustomer, identifiers: PayeeIdentifiers): boolean {
  const { agency, accountNumber, document } = customer.account;
  return (
    (identifiers.key === null || hasKey(customer, identifiers.key)) &&
    [null, document].includes(identifiers.document) &&
    [null, agency].includes(identifiers.agency) &&
    [null, accountNumber].includes(identifiers.accountNumber)
  );
}

/** Any one of these is proof: the agency with the account number, the document, a key. */
function prove({ key, document, agency, accountNumber }: PayeeIdentifiers): boolean {
  return key !== null || document !== null || (agency !== null && accountNumber !== null);
}

/**
 * Draws the identifiers by which an event names a payee.
 * @param others the other customers, whose identifiers may be mixed in.
 */
export function drawIdentifiers(
  chance: Chance,
  payee: StoredCustomer,
  others: readonly StoredCustomer[],
): PayeeIdentifiers {
  const { agency, accountNumber, document } = payee.account;
  const all = toPayeeIdentifiers(payee);
  const right = chance.pick<PayeeIdentifiers>([
    all,
    { ...noIdentifiers, agency, accountNumber },
    { ...noIdentifiers, document },
    { ...noIdentifiers, key: all.key },
    { ...noIdentifiers, key: document },
    { ...all, key: null },
  ]);
  switch (chance.pick(['right', 'right', 'right', 'few', 'mixed'])) {
    case 'few':
      // The e-mail that was typed at registration, and a number without its agency, prove nothing.
      return chance.pick([
        noIdentifiers,
        { ...noIdentifiers, accountNumber },
        { ...noIdentifiers, key: payee.email },
      ]);
    case 'mixed': {
      const mixed = mix(chance, right, others);
      // The service has to believe an event that names another customer in every part.
      return others.some((one) => identify(one, mixed)) ? noIdentifiers : mixed;
    }
    default:
      return right;
  }
}

/** Replaces or adds one identifier: another customer's, or one of an unknown account. */
function mix(
  chance: Chance,
  right: PayeeIdentifiers,
  others: readonly StoredCustomer[],
): PayeeIdentifiers {
  const [other] = chance.shuffled(others);
  const { accountNumber, document } = other?.account ?? foreign;
  const isForeign = !other || chance.happens(0.3);
  return chance.pick<PayeeIdentifiers>([
    { ...right, document: isForeign ? foreign.document : document },
    { ...right, agency: foreign.agency, accountNumber: right.accountNumber ?? accountNumber },
    { ...right, agency: '0001', accountNumber: isForeign ? foreign.accountNumber : accountNumber },
    { ...right, key: isForeign ? 'nobody@pix.test' : toListedKey(other) },
  ]);
}

/**
 * Draws the identifiers of a payee whom a copied code pays: at least one of them disagrees with the
 * owner of the charge.
 * @param other another customer; null: somebody at another institution.
 */
export function drawOtherPayee(
  chance: Chance,
  charge: { readonly key: string },
  other: StoredCustomer | null,
): PayeeIdentifiers {
  const all: PayeeIdentifiers = other
    ? toPayeeIdentifiers(other)
    : { ...foreign, key: 'nobody@pix.test' };
  const { agency, accountNumber, document, key } = all;
  return chance.pick<PayeeIdentifiers>([
    all,
    { ...noIdentifiers, key },
    { ...noIdentifiers, document },
    { ...noIdentifiers, agency, accountNumber },
    { ...noIdentifiers, key: charge.key, document },
    { ...noIdentifiers, key: charge.key, agency, accountNumber },
  ]);
}

/** Identifiers of an account at another institution. */
const foreign = { agency: '0777', accountNumber: '99999', document: '93541134780' } as const;
