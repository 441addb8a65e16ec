/** How the answers of look-ups show a key and its owner. */
import type { PixKeyOwner, PixPayee } from '../../contract/types.ts';
import { bankOf, type Bank } from '../domain/bank.ts';
import type { ShownOwner } from '../domain/key-owner.ts';
import { toKeyType, type PixKey } from '../domain/pix-key.ts';

/** @returns a key as a send would look it up, and its type. */
export function keyReply({
  kind,
  key,
}: PixKey): Pick<PixKeyOwner, 'pix_key' | 'key_type' | 'pix_key_type'> {
  const type = toKeyType(kind);
  return { pix_key: key, ...(type !== null && { key_type: type, pix_key_type: type }) };
}

/** @param own the institution that keeps the customers' accounts. */
export function ownerReply({ ispb, ...named }: ShownOwner, own: Bank): PixPayee {
  return { ...named, ...(ispb !== undefined && { bank: bankOf(ispb, own), institution: ispb }) };
}
