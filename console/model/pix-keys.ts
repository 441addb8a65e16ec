/** PIX keys as the provider passes them on, and the types that there are. */
import type { PixKeyType } from '../../contract/types.ts';
import type { Field } from './form.ts';
import type { Column } from './table.ts';

export interface PixKey {
  readonly key: string;
  readonly keyType: string | undefined;
}

/** What the provider says comes as it is: the keys are wherever a `key` is. */
export function keysOf(payload: Readonly<Record<string, unknown>>): PixKey[] {
  const lists = Object.values(payload).filter((value) => Array.isArray(value));
  return lists.flat().flatMap((item: unknown) => {
    const { key, keyType } = (item ?? {}) as Partial<PixKey>;
    return typeof key === 'string' ? [{ key, keyType }] : [];
  });
}

/** The key that was made or removed, where the provider names it. */
export function keyOf(payload: Readonly<Record<string, unknown>>): string {
  const { key } = payload;
  return typeof key === 'string' ? key : 'the key';
}

const types = {
  EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO: 'random (EVP)',
  CPF: 'CPF',
  CNPJ: 'CNPJ',
  CELULAR: 'phone (CELULAR)',
  E_MAIL: 'e-mail (E_MAIL)',
} as const satisfies Record<PixKeyType, string>;

/** A type that is not known comes as it is; a known one is short, so that a key is seen whole. */
function typeOf({ keyType }: PixKey): string {
  return types[keyType as PixKeyType] ?? keyType ?? '–';
}

export const keyColumns: readonly Column<PixKey>[] = [
  { head: 'TYPE', cell: typeOf },
  { head: 'KEY', cell: ({ key }) => key },
];

const typeField: Field = {
  name: 'key_type',
  label: 'Type',
  kind: 'text',
  choices: types,
  hint: '← → to choose',
};

const emailField: Field = {
  name: 'email',
  label: 'E-mail',
  kind: 'text',
  hint: "only when it is not the account's",
};

/** An e-mail goes with its own type only. */
export function keyFields(values: Readonly<Record<string, string>>): Field[] {
  return values['key_type'] === 'E_MAIL' ? [typeField, emailField] : [typeField];
}
