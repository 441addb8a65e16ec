/** The words that providers of this family use: statuses, refusals, duplicates. */
import type { Payment } from './ledger.ts';

export type StatusMeaning = 'under_way' | 'completed' | 'failed';

/** How a provider writes the statuses of a payment. */
export interface Vocabulary {
  readonly name: string;
  readonly status: Readonly<Record<StatusMeaning, string | number>>;
  /** Whether the contract with the provider documents the words: only then are they proof. */
  readonly isKnown: boolean;
}

const known = (
  name: string,
  [under_way, completed, failed]: readonly [string, string, string],
): Vocabulary => ({ name, status: { under_way, completed, failed }, isKnown: true });

export const knownVocabularies = [
  known('celcoin', ['PROCESSING', 'CONFIRMED', 'ERROR']),
  known('openpix', ['CREATED', 'COMPLETED', 'FAILED']),
  known('settled', ['PENDING', 'SETTLED', 'REJECTED']),
  known('paid', ['APPROVED', 'PAID', 'CANCELLED']),
] as const;

/** Undocumented words of a provider: they prove nothing. */
export const unknownVocabulary: Vocabulary = {
  name: 'undocumented',
  status: { under_way: 'EM_PROCESSAMENTO', completed: 'LIQUIDADO', failed: 'DEVOLVIDO' },
  isKnown: false,
};

/** As a status of a payment; a word that is undocumented there is one of returns (`DEVOLVIDO`). */
export function getReturnWord({ isKnown, status }: Vocabulary, meaning: StatusMeaning) {
  return !isKnown && status[meaning] === 'DEVOLVIDO' ? 'RECUSADO' : status[meaning];
}

/** The numbers of one institution's documentation; elsewhere they have other meanings. */
export const numberVocabulary: Vocabulary = {
  name: 'numbers',
  status: { under_way: 0, completed: 1, failed: 2 },
  isKnown: false,
};

/** The words of Celcoin's `entity` events: another word is no status there. */
export const entityWords = {
  under_way: 'PROCESSING',
  completed: 'CONFIRMED',
  failed: 'ERROR',
} as const;

/** The numbers of `StatusCode.StatusId`, the only format that defines them. */
export const statusIds = { under_way: 1, completed: 2, failed: 3 } as const;

/** The status of a payment, as the bank reports it. */
export function getMeaning({ state }: Payment): StatusMeaning {
  return state === 'reversed' ? 'failed' : state;
}

export interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

/** Refusals of a repeat in the wordings that the service has always recognised. */
export const plainDuplicates: readonly Refusal[] = [
  { status: 422, body: { code: 'PBE300', message: 'Duplicated EndToEndId' } },
  { status: 400, body: { error: { code: 'DUPL' } } },
  { status: 422, body: { errors: [{ code: 'AM05' }] } },
  { status: 400, body: { message: 'O pagamento já foi processado' } },
  { status: 422, body: { title: 'AlreadyPaid' } },
  { status: 403, body: { error: 'idempotency key already used' } },
];

/** The same refusals in the wordings of other providers. */
export const furtherDuplicates: readonly Refusal[] = [
  { status: 422, body: { message: 'clientRequestId em uso' } },
  { status: 400, body: { message: ['endToEnd must be unique'] } },
  { status: 422, body: { message: 'Identificador repetido' } },
  { status: 400, body: { detail: 'endToEndId utilizado anteriormente' } },
  { status: 422, body: { message: 'Transação existente' } },
  { status: 422, body: { data: { message: 'Duplicated EndToEndId' } } },
  { status: 400, body: { message: ['Duplicated request'] } },
  { status: 422, body: { code: 'E42', message: 'This endToEndId was already received.' } },
];

/** The error in the body of a 200 that refuses a repeat. */
export const duplicateErrors: readonly unknown[] = [
  { error: { code: 'ALREADY_PAID' } },
  { error: { code: 'PBE300', description: 'Duplicated EndToEndId' } },
  { errors: [{ code: 'E42', message: 'Pagamento já existe' }] },
  { error: { code: 'E7', message: 'clientRequestId em uso' } },
];

type Refusals = readonly [Refusal, ...Refusal[]];

/**
 * A refusal of the payment itself, with a listed status and code: nothing was executed, and nothing
 * will be.
 */
export const refusals: Readonly<Record<'account' | 'funds', Refusals>> = {
  account: [
    { status: 422, body: { code: 'AC03', message: 'Conta do recebedor inválida' } },
    { status: 400, body: { error: { code: 'AC07', message: 'Conta encerrada' } } },
    { status: 422, body: { error: { code: 'BE01' } } },
    { status: 400, body: { code: 'AC06', message: 'Conta bloqueada' } },
  ],
  funds: [
    { status: 422, body: { code: 'NOT_ENOUGH_BALANCE', message: 'Saldo insuficiente' } },
    { status: 422, body: { error: { code: 'INSUFFICIENT_FUNDS' } } },
  ],
};

/** The codes of an ERROR event that no table has. */
export const unlistedCodes = ['PBE300', 'XK-9', 'AB11', 'E998'] as const;
