/** The postal codes (CEP) that the bank knows. */
import type { CepAddress } from '../provider.ts';

const known: readonly CepAddress[] = [
  {
    cep: '01310100',
    logradouro: 'Avenida Paulista',
    bairro: 'Bela Vista',
    cidade: 'São Paulo',
    estado: 'SP',
  },
  {
    cep: '20040002',
    logradouro: 'Avenida Rio Branco',
    bairro: 'Centro',
    cidade: 'Rio de Janeiro',
    estado: 'RJ',
  },
  // The whole island has one code, so the street and the district are not known.
  { cep: '53990000', logradouro: null, bairro: null, cidade: 'Fernando de Noronha', estado: 'PE' },
];

const byCep: ReadonlyMap<string, CepAddress> = new Map(
  known.map((address) => [address.cep, address]),
);

/** The address of a postal code, or null when the bank does not know it. */
export function postalCode(cep: string): CepAddress | null {
  return byCep.get(cep) ?? null;
}
