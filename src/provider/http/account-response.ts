/** Reads the account fields that several responses contain. */
import type { ProviderAccount } from '../provider.ts';
import { firstId, inner, valuesOf, type Fields } from '../wire-reading.ts';

/** Reads the account of a response; each part may be missing. */
export function readAccount(places: readonly Fields[]): ProviderAccount {
  const all = [...places, ...places.map((fields) => inner(fields, 'account'))];
  const id = (...names: string[]): string | null => firstId(valuesOf(names, all));
  const number = id('accountnumber');
  const digit = id('digitaccount');
  return {
    agency: id('agency', 'agencynumber'),
    accountNumber: number === null ? null : number + (digit ?? ''),
    document: id('document', 'cpfcnpj')?.replace(/[.\-/\s]/g, '') ?? null,
    companyId: id('companyid'),
    clientToken: id('clienttoken'),
  };
}
