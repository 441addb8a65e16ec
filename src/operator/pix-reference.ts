/**
 * Finds a transaction by what a customer, the app or the provider quotes: its id, its end-to-end id
 * or return id, its txid, the provider's id, or its idempotency key.
 */
import type { LocalContext } from '../context/context.ts';
import { isUuid } from '../domain/text.ts';
import { OpError } from './op.ts';
import { findPix, findPixReferences, type FoundPix } from './pix-repository.ts';

/**
 * Finds the one transaction that an id names.
 * @throws OpError when there is none, when there are several, and for a text that is no id.
 */
export async function findNamedPix(context: LocalContext, reference: string): Promise<FoundPix> {
  const id = reference.trim();
  const [first, ...others] = await findPixReferences(context, id);
  const pix = first && (await findPix(context, first.id));
  if (!pix) {
    requireKnownForm(id);
    throw new OpError('NOT_FOUND', `there is no transaction ${id}`);
  }
  if (others.length === 0) return pix;
  const each = [first, ...others].map(
    (one) => `${one.id} (${one.operation} of user ${one.userId})`,
  );
  const what = `${id} is an id of ${each.length} transactions`;
  throw new OpError('REFUSED', `${what}: ${each.join(', ')}; give one of their own ids`);
}

/** The forms by which an id is recognised, although no transaction has it. */
const forms: readonly ((id: string) => boolean)[] = [
  isUuid,
  // An end-to-end id or a return id: ISPB, time, sequence.
  (id) => /^[DE]\d{20}[A-Za-z0-9]{11}$/.test(id),
  // A txid, as Ponte makes it.
  (id) => /^[A-Za-z0-9]{26}$/.test(id),
];

/**
 * Distinguishes an id that no transaction has from a text that is no id.
 * @param id what no transaction has.
 * @throws OpError when it is not an id of a known form. A provider's id and an Idempotency-Key may
 *   have any form, so that only an empty text can never be right.
 */
export function requireKnownForm(id: string): void {
  if (forms.some((has) => has(id))) return;
  throw new OpError(
    id === '' ? 'INVALID' : 'NOT_FOUND',
    `'${id}' is not an id of a transaction: give its id (a UUID), its end-to-end id or return id ` +
      "(32 characters), its txid (26 characters) or, in full, the provider's id or its " +
      'Idempotency-Key',
  );
}
