/**
 * Finds a transaction by what a customer, the app or the provider quotes: its id, its end-to-end id
 * or return id, its txid, the provider's id, or its idempotency key.
 */
import type { LocalContext } from '../context.ts';
import { isUuid } from '../domain/text.ts';
import { OpError } from './op.ts';
import { findPix, findPixReferences, type FoundPix } from './pix-repository.ts';

/**
 * Finds the one transaction that an id names.
 * @throws OpError when there is none, when there are several, and for a text that is no id.
 */
export async function findNamedPix(context: LocalContext, reference: string): Promise<FoundPix> {
  const [first, ...others] = await findNamedPixIds(context, reference);
  const pix = first && (await findPix(context, first.id));
  if (!pix) throw noTransaction(reference);
  if (others.length === 0) return pix;
  const each = [first, ...others].map(
    ({ id, operation, userId }) => `${id} (${operation} of user ${userId})`,
  );
  const what = `${reference} is an id of ${each.length} transactions`;
  throw new OpError('REFUSED', `${what}: ${each.join(', ')}; give one of their own ids`);
}

/**
 * Finds the transactions that an id names, the oldest first: several users may have used one
 * idempotency key, and a transfer between two of them has one end-to-end id.
 * @throws OpError when there is none, and for a text that is no id.
 */
export async function findNamedPixIds(context: LocalContext, reference: string) {
  const found = await findPixReferences(context, reference.trim());
  if (found.length === 0) throw noTransaction(reference);
  return found;
}

/** The forms by which an id is recognised, although no transaction has it. */
const forms: readonly ((id: string) => boolean)[] = [
  isUuid,
  // An end-to-end id or a return id: ISPB, time, sequence.
  (id) => /^[DE]\d{20}[A-Za-z0-9]{11}$/.test(id),
  // A txid, as Ponte makes it.
  (id) => /^[A-Za-z0-9]{26}$/.test(id),
];

function noTransaction(reference: string): OpError {
  const id = reference.trim();
  if (forms.some((has) => has(id))) {
    return new OpError('NOT_FOUND', `there is no transaction ${id}`);
  }
  // A provider's id and an idempotency key may have any form: they are known when they are stored.
  return new OpError(
    'NOT_FOUND',
    `${id} is not an id of a kind that I know: give the id of a transaction (a UUID), its ` +
      'end-to-end id (E and 31 characters), its txid (26 characters), or, as a whole, the ' +
      "provider's id or the Idempotency-Key that it was stored with",
  );
}
