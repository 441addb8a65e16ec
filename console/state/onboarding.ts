/** The steps of an onboarding: the form of each, the operation that takes it, and its progress. */
import type { OnboardingApplication, OnboardingStep, OperationId } from '../../contract/types.ts';
import type { ServiceResponse } from '../api.ts';
import { capitalise, type Inputs } from './contract.ts';
import type { Row } from './table.ts';

type StepName = OnboardingStep['name'];

export interface StepForm {
  readonly label: string;
  readonly button: string;
  readonly operation: OperationId;
  /** The screen's own texts for the fields of the operation. */
  readonly inputs?: Inputs;
  /** A description of the operation, if it has no fields. */
  readonly words?: string;
}

/** The contract knows 21 kinds of documents by their numbers; an application needs these. */
export const documentKinds: Readonly<Record<string, string>> = {
  1: '1 RG',
  2: '2 CNH',
  5: '5 proof of residence',
  6: '6 selfie',
};

/** The document that is needed after this one. */
export const nextDocument: Readonly<Record<string, string>> = { 1: '5', 2: '5', 5: '6' };

const stepForms: Readonly<Partial<Record<StepName, StepForm>>> = {
  address: {
    label: 'Address',
    button: 'Store',
    operation: 'submitAddress',
    inputs: {
      cep: { label: 'CEP', hint: 'eight digits fill in the known fields' },
      logradouro: 'Street',
      numero: { label: 'Number', hint: 'S/N without one' },
      complemento: 'Complement',
      bairro: { label: 'District', hint: 'may be empty where a town has one CEP' },
      cidade: 'City',
      estado: 'State',
    },
  },
  documents: {
    label: 'Documents',
    button: 'Upload',
    operation: 'submitDocument',
    inputs: {
      tipo_documento: {
        label: 'Kind',
        choices: documentKinds,
        hint: '← →; needed: RG or CNH, proof of residence, selfie',
      },
      arquivo: { label: 'Path of the file', hint: 'a PDF, JPEG or PNG' },
    },
  },
  proposal: {
    label: 'Proposal',
    button: 'Ask for the account',
    operation: 'submitProposal',
    inputs: { tipo: 'Product', observacoes: 'Remarks', valor_solicitado: 'Amount in R$' },
  },
  electronic_validation: {
    label: 'Electronic validation',
    button: 'Send the code',
    operation: 'requestElectronicValidation',
    inputs: { tipo: 'Kind' },
  },
  electronic_validation_confirm: {
    label: 'Confirm the code',
    button: 'Confirm',
    operation: 'confirmElectronicValidation',
    inputs: { codigo: 'Code', tipo: 'Kind' },
  },
  prova_vida: {
    label: 'Proof of life',
    button: 'Begin',
    operation: 'startProvaVida',
    words: 'The service answers with the address of a page. Open it in a browser.',
  },
  kyc: {
    label: 'Decision (KYC)',
    button: 'Request',
    operation: 'getKyc',
    words: 'Requests the decision, once all steps before it are done.',
  },
};

const synchronisation: StepForm = {
  label: 'Try again what is not done',
  button: 'Try again',
  operation: 'syncOnboarding',
  words: 'Repeats every submitted step that is not done.',
};

const errors: Readonly<Record<string, string>> = {
  PROVIDER_REJECTED: 'the bank refuses it: submit it again',
  PROVIDER_NOT_FOUND: 'the bank does not offer it',
  EARLIER_STEP_FAILED: 'waits for a failed step',
  CONTENT_MISSING: 'no longer stored: submit it again',
  DOCUMENT_IN_USE: 'the CPF has an account',
  WRONG_CODE: 'wrong code',
  CODE_LOCKED: 'too many wrong codes: wait ten minutes',
};

/** A step, or the row that tries all of them again. */
export interface StepRow extends Row {
  readonly step: string;
  readonly status: string;
  readonly note: string;
  /** Null where a person submits nothing. */
  readonly form: StepForm | null;
}

/** The steps of an application, each with its form. */
export function stepRows({ steps }: OnboardingApplication): StepRow[] {
  const rows = steps.map(({ name, status, error }) => {
    const form = stepForms[name] ?? null;
    const note = error === null ? '' : (errors[error] ?? 'try again later');
    return { step: form?.label ?? capitalise(name), status, note, form };
  });
  return [...rows, { step: synchronisation.label, status: '', note: '', form: synchronisation }];
}

/** @returns the index of the first row that a person has to submit or request. */
export function nextRow(rows: readonly StepRow[]): number {
  const index = rows.findIndex(
    ({ form, status }) =>
      form !== null &&
      (status === 'pending' ||
        status === 'failed' ||
        (form === stepForms.kyc && status === 'queued')),
  );
  return Math.max(0, index);
}

/** @returns the done part of an application, in percent. */
export function percentDone({ steps }: OnboardingApplication): number {
  const required = steps.filter(({ status }) => status !== 'not_required');
  const done = required.filter(({ status }) => status === 'done');
  return Math.round((100 * done.length) / Math.max(1, required.length));
}

/** Whether a step ends soon without a person. The decision has to be requested. */
export function isUnderWay({ steps }: OnboardingApplication): boolean {
  return steps.some(({ name, status }) => status === 'queued' && name !== 'kyc');
}

/** Whether the application needs more documents. */
export function needsDocuments({ steps }: OnboardingApplication): boolean {
  return steps.some(({ name, status }) => name === 'documents' && status === 'pending');
}

/** @returns the application in the response of a step; null when the step was refused. */
export function readApplication({ status, body }: ServiceResponse): OnboardingApplication | null {
  if (status >= 300) return null;
  const { application, ...rest } = body as { readonly application?: OnboardingApplication };
  return application ?? (rest as OnboardingApplication);
}

/** The meaning of a step's response, for a person. */
export function stepText(response: ServiceResponse, { label }: StepForm): string {
  const { message, url_iframe: page } = response.body as {
    readonly message?: string;
    readonly url_iframe?: string;
  };
  if (page !== undefined) return `Open this page in a browser: ${page}`;
  const { status } = readApplication(response) ?? {};
  if (status === 'APPROVED') return 'Approved: log in with the e-mail and the password.';
  if (status === 'REJECTED') return 'Rejected: no account is opened.';
  return message ?? `${label}: accepted.`;
}
