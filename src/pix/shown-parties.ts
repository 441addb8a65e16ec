/** The parties and the ids of a transaction as receipts and lists show them, documents masked. */
import { bankOf, type Bank } from '../domain/bank.ts';
import type { ShownOwner } from '../domain/key-owner.ts';
import { normalisePixKey } from '../domain/pix-key.ts';
import type { PixType } from '../domain/pix.ts';
import { maskTaxId } from '../domain/tax-id.ts';

/** A payer or a payee, as far as known; a document is masked, and so is a key that is one. */
interface ShownParty {
  readonly name?: string;
  readonly document?: string;
  readonly bank?: Bank;
  /** The `bank` of version 1.1.0, which has no name. */
  readonly institution?: { readonly ispb: string };
  readonly key?: string;
}

/** What is stored of the party that is not the user. */
interface OtherPartyFacts {
  readonly operation: PixType;
  readonly pixKey: string | null;
  /** The owner of the key that a send pays, or that the refunded send has paid. */
  readonly payee: ShownOwner | null;
}

/** The party that is not the user. */
export interface OtherParty {
  readonly payer?: ShownParty;
  readonly payee?: ShownParty;
}

/**
 * Returns the party that is not the user, as far as it is known: the payee of a send and of a
 * refund by the user, and the payer of a refund to the user. Of any other payer nothing is stored.
 *
 * @param own the institution that keeps the customers' accounts.
 */
export function otherParty({ operation, pixKey, payee }: OtherPartyFacts, own: Bank): OtherParty {
  const owner = ownerParty(payee ?? {}, own);
  if (operation === 'REFUND_IN') return isKnown(owner) ? { payer: owner } : {};
  if (operation !== 'SEND' && operation !== 'REFUND_OUT') return {};
  const party = { ...owner, ...keyPart(pixKey) };
  return isKnown(party) ? { payee: party } : {};
}

function ownerParty({ ispb, ...named }: ShownOwner, own: Bank): ShownParty {
  return { ...named, ...(ispb !== undefined && bankPart(bankOf(ispb, own))) };
}

/** The institution of a party, under its two names. */
export function bankPart(bank: Bank): Pick<ShownParty, 'bank' | 'institution'> {
  return { bank, institution: { ispb: bank.ispb } };
}

function isKnown(party: ShownParty): boolean {
  return Object.keys(party).length > 0;
}

/** The key of a payee; one that is a document is masked like one. */
export function keyPart(pixKey: string | null): Pick<ShownParty, 'key'> {
  if (pixKey === null) return {};
  const { kind, key } = normalisePixKey(pixKey);
  return { key: (kind === 'CPF' || kind === 'CNPJ' ? maskTaxId(key) : null) ?? pixKey };
}

interface IdFacts {
  readonly endToEnd: string | null;
  /** Of a refund, whose own end-to-end id is its return id: the transaction that it refunds. */
  readonly originalId: string | null;
  readonly originalEndToEnd: string | null;
}

/** Returns the ids; a refund shows the end-to-end id of the refunded payment. */
export function shownIds({ endToEnd, originalId, originalEndToEnd }: IdFacts) {
  const ofPayment = originalId === null ? endToEnd : originalEndToEnd;
  return {
    ...(ofPayment !== null && { end_to_end: ofPayment }),
    ...(originalId !== null && {
      ...(endToEnd !== null && { return_id: endToEnd }),
      original_transaction_id: originalId,
    }),
  };
}
