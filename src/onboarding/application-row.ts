/** Maps an onboarding application between its row and the domain. */
import type { InferEntity } from '@mikro-orm/core';
import type { OnboardingApplication } from '../db/entities/onboarding-application.ts';
import type { TableRow } from '../db/rows.ts';

/** The person who applies, as registered. */
export interface Applicant {
  /** The user's id. */
  readonly id: number;
  readonly name: string;
  readonly email: string;
  /** CPF, eleven digits. */
  readonly document: string;
  /** E.164. */
  readonly phone: string;
}

/** A stored application. Its id is a secret and must not appear in logs or jobs. */
export interface Application extends Omit<
  TableRow<'onboarding_applications'>,
  'userId' | 'createdAt' | 'updatedAt'
> {
  readonly applicant: Applicant;
}

type Row = InferEntity<typeof OnboardingApplication>;

/** The content of a new application, beside its id and its applicant. */
export const emptyContent = {
  address: null,
  proposal: null,
  validation: null,
  validationFailures: 0,
  validationLockedUntil: null,
  sealedCode: null,
  pessoaFisicaId: null,
  clientToken: null,
  agency: null,
  accountNumber: null,
  provaVidaSessionId: null,
  provaVidaUrl: null,
} as const satisfies Partial<Application>;

/** @param row a row with its user loaded. */
export function toApplication(row: Row): Application {
  const { id, user, personType } = row;
  return {
    id,
    applicant: {
      id: user.id,
      name: user.name,
      email: user.email,
      document: user.document ?? '',
      phone: user.phone ?? '',
    },
    personType,
    ...toColumns(row),
  };
}

type Columns = Omit<Application, 'id' | 'applicant' | 'personType'>;

/** Nullable columns may be undefined in a row. */
type Stored = {
  readonly [Name in keyof Columns]:
    Columns[Name] | (null extends Columns[Name] ? undefined : never);
};

/** Returns the columns that a change may modify. */
export function toColumns(from: Stored): Columns {
  return {
    status: from.status,
    kycStatus: from.kycStatus ?? null,
    contaBancariaCriada: from.contaBancariaCriada,
    steps: from.steps,
    address: from.address ?? null,
    proposal: from.proposal ?? null,
    validation: from.validation ?? null,
    validationFailures: from.validationFailures,
    validationLockedUntil: from.validationLockedUntil ?? null,
    sealedCode: from.sealedCode ?? null,
    pessoaFisicaId: from.pessoaFisicaId ?? null,
    clientToken: from.clientToken ?? null,
    agency: from.agency ?? null,
    accountNumber: from.accountNumber ?? null,
    provaVidaSessionId: from.provaVidaSessionId ?? null,
    provaVidaUrl: from.provaVidaUrl ?? null,
  };
}
