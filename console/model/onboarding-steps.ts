/** The steps of an onboarding as forms: what is typed, and which operation takes it. */
import type { OnboardingApplication, OnboardingStep, OperationId } from '../../contract/types.ts';
import type { Api, Answered } from '../api.ts';
import type { Field } from './form.ts';
import { bodyFor } from './form-values.ts';

type StepName = OnboardingStep['name'];

export interface StepForm {
  /** The step that it is for; null for what tries all of them again. */
  readonly step: StepName | null;
  readonly label: string;
  readonly button: string;
  /** What it is about, where it has no fields that say so. */
  readonly words?: string;
  readonly fields: readonly Field[];
  readonly operation: OperationId;
  send(sending: Sending): Promise<Answered>;
}

export interface Sending {
  readonly api: Api;
  readonly id: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Told how much of a document has left, from 0 to 1. */
  onProgress(share: number): void;
}

/** The documents that an application needs, and the numbers without a name here. */
const documents: Readonly<Record<string, string>> = {
  '1': '1 RG',
  '2': '2 CNH',
  '5': '5 proof of residence',
  '6': '6 selfie',
  ...Object.fromEntries(
    Array.from({ length: 21 }, (_, index) => index + 1)
      .filter((kind) => ![1, 2, 5, 6].includes(kind))
      .map((kind) => [`${kind}`, `${kind} another one`]),
  ),
};

/** After one of the needed documents comes the next. */
export const nextDocument: Readonly<Record<string, string>> = { 1: '5', 2: '5', 5: '6' };

/** What a document is called. */
export function documentName(kind: number): string {
  return (documents[`${kind}`] ?? '').replace(/^\d+ /, '');
}

const address: StepForm = {
  step: 'address',
  label: 'Address',
  button: 'Store',
  operation: 'submitAddress',
  fields: [
    {
      name: 'cep',
      label: 'CEP',
      kind: 'text',
      hint: 'eight digits fill in what is known; ctrl+l does it again',
    },
    { name: 'logradouro', label: 'Street', kind: 'text' },
    { name: 'numero', label: 'Number', kind: 'text' },
    { name: 'complemento', label: 'Complement', kind: 'text' },
    { name: 'bairro', label: 'District', kind: 'text' },
    { name: 'cidade', label: 'City', kind: 'text' },
    { name: 'estado', label: 'State', kind: 'text', hint: 'two letters' },
  ],
  send: ({ api, id, values, signal }) =>
    api.call(
      'submitAddress',
      { path: { applicationId: id }, body: bodyFor('submitAddress', values) },
      signal,
    ),
};

const documentUpload: StepForm = {
  step: 'documents',
  label: 'Documents',
  button: 'Upload',
  operation: 'submitDocument',
  fields: [
    {
      name: 'tipo_documento',
      label: 'Kind',
      kind: 'number',
      choices: documents,
      hint: '← →; needed: RG or CNH, proof of residence, selfie',
    },
    { name: 'arquivo', label: 'Path of the file', kind: 'text', hint: 'a PDF, JPEG or PNG' },
  ],
  send: ({ api, id, values, signal, onProgress }) =>
    api.upload(
      {
        ...{ applicationId: id, onProgress },
        kind: Number(values['tipo_documento']),
        file: values['arquivo'] as string,
      },
      signal,
    ),
};

const proposal: StepForm = {
  step: 'proposal',
  label: 'Proposal',
  button: 'Ask for the account',
  operation: 'submitProposal',
  fields: [
    { name: 'tipo', label: 'Product', kind: 'text', initial: 'CONTA_CORRENTE' },
    { name: 'observacoes', label: 'Remarks', kind: 'text' },
    { name: 'valor_solicitado', label: 'Amount in R$', kind: 'money', hint: 'may be empty' },
  ],
  send: ({ api, id, values, signal }) =>
    api.call(
      'submitProposal',
      { path: { applicationId: id }, body: bodyFor('submitProposal', values) },
      signal,
    ),
};

const validation: StepForm = {
  step: 'electronic_validation',
  label: 'Electronic validation',
  button: 'Send the code',
  operation: 'requestElectronicValidation',
  fields: [
    { name: 'tipo', label: 'Kind', kind: 'number', initial: '1', hint: 'how the code is sent' },
  ],
  send: ({ api, id, values, signal }) =>
    api.call(
      'requestElectronicValidation',
      { path: { applicationId: id }, body: bodyFor('requestElectronicValidation', values) },
      signal,
    ),
};

const confirmation: StepForm = {
  step: 'electronic_validation_confirm',
  label: 'Confirm the code',
  button: 'Confirm',
  operation: 'confirmElectronicValidation',
  fields: [
    { name: 'codigo', label: 'Code', kind: 'text', hint: 'empty: ABC123, outside production' },
    { name: 'tipo', label: 'Kind', kind: 'number', initial: '1' },
  ],
  send: ({ api, id, values, signal }) =>
    api.call(
      'confirmElectronicValidation',
      { path: { applicationId: id }, body: bodyFor('confirmElectronicValidation', values) },
      signal,
    ),
};

const liveness: StepForm = {
  step: 'prova_vida',
  label: 'Proof of life',
  button: 'Begin',
  words: 'The answer is the address of a page, to be opened in a browser.',
  operation: 'startProvaVida',
  fields: [],
  send: ({ api, id, signal }) =>
    api.call('startProvaVida', { path: { applicationId: id } }, signal),
};

const decision: StepForm = {
  step: 'kyc',
  label: 'Decision (KYC)',
  button: 'Ask',
  words: 'Asks for the decision, once all steps before it are done.',
  operation: 'getKyc',
  fields: [],
  send: ({ api, id, signal }) => api.call('getKyc', { path: { applicationId: id } }, signal),
};

/** What is not done is tried again. */
const synchronisation: StepForm = {
  step: null,
  label: 'Try again what is not done',
  button: 'Try again',
  words: 'Every step that was given and is not done is tried again.',
  operation: 'syncOnboarding',
  fields: [],
  send: ({ api, id, signal }) =>
    api.call('syncOnboarding', { path: { applicationId: id } }, signal),
};

const stepForms = [
  address,
  documentUpload,
  proposal,
  validation,
  confirmation,
  liveness,
  decision,
] as const;

const labels: Partial<Record<StepName, string>> = {
  registration: 'Registration',
  account: 'Account',
};

export interface StepRow {
  readonly label: string;
  /** Null for what is no step. */
  readonly status: OnboardingStep['status'] | null;
  readonly note: string;
  /** Null where nothing is asked of the person. */
  readonly form: StepForm | null;
}

/** The steps as the service has them, each with what it is given by. */
export function stepRows({ steps }: Pick<OnboardingApplication, 'steps'>): StepRow[] {
  const rows = steps.map(({ name, status, error }) => {
    const form = stepForms.find(({ step }) => step === name) ?? null;
    const label = form?.label ?? labels[name] ?? name;
    return { label, status, note: error === null ? '' : (errors[error] ?? error), form };
  });
  const { label } = synchronisation;
  return [...rows, { label, status: null, note: '', form: synchronisation }];
}

const errors: Readonly<Record<string, string>> = {
  PROVIDER_REJECTED: 'the bank refuses it: give it anew',
  PROVIDER_NOT_FOUND: 'the bank does not offer it',
  EARLIER_STEP_FAILED: 'waits for a failed step',
  CONTENT_MISSING: 'not stored any more: give it again',
  WRONG_CODE: 'wrong code',
  CODE_LOCKED: 'too many wrong codes: wait ten minutes',
  PROVIDER_UNAVAILABLE: 'try again later',
  PROVIDER_TIMEOUT: 'try again later',
  PROVIDER_RATE_LIMITED: 'try again later',
  PROVIDER_INVALID_RESPONSE: 'try again later',
};

/** How much of an application is done, from 0 to 1. */
export function progressOf({ steps }: Pick<OnboardingApplication, 'steps'>): number {
  const needed = steps.filter(({ status }) => status !== 'not_required');
  const done = needed.filter(({ status }) => status === 'done');
  return done.length / Math.max(1, needed.length);
}

/** The application in an answer of any step. */
export function applicationOf({ status, body }: Answered): OnboardingApplication | null {
  if (status >= 300) return null;
  const { application, ...rest } = body as { readonly application?: OnboardingApplication };
  return application ?? (rest as OnboardingApplication);
}

/** Which row comes next: the first that is to be given, given anew, or asked for. */
export function nextRow(rows: readonly StepRow[]): number {
  const next = rows.findIndex(
    ({ form, status }) =>
      form !== null &&
      (status === 'pending' || status === 'failed' || (form === decision && status === 'queued')),
  );
  return Math.max(0, next);
}

/** Whether a step is under way that ends by itself; the decision has to be asked for. */
export function isUnderWay({ steps }: Pick<OnboardingApplication, 'steps'>): boolean {
  return steps.some(({ name, status }) => status === 'queued' && name !== 'kyc');
}
