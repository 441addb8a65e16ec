/**
 * The states and rules of an individual's onboarding.
 *
 *     IN_PROGRESS → UNDER_ANALYSIS → APPROVED | REJECTED
 *
 * An application consists of steps, which are submitted in any order while it is IN_PROGRESS. A
 * submitted step runs (`queued → done | failed`) as soon as the steps that it waits for are done.
 * When every step before `kyc` is done, the application is under analysis, and a decision ends it.
 */

export const applicationStatuses = [
  'IN_PROGRESS',
  'UNDER_ANALYSIS',
  'APPROVED',
  'REJECTED',
] as const;

export type ApplicationStatus = (typeof applicationStatuses)[number];

export const kycStatuses = ['PENDING', 'APPROVED', 'REJECTED'] as const;

export type KycStatus = (typeof kycStatuses)[number];

/** Every step, in the order in which an application shows them. */
export const stepNames = [
  'registration',
  'address',
  'documents',
  'proposal',
  'electronic_validation',
  'electronic_validation_confirm',
  'prova_vida',
  'kyc',
  'account',
] as const;

export type StepName = (typeof stepNames)[number];

export type StepStatus = 'pending' | 'queued' | 'done' | 'failed' | 'not_required';

/** Why a step failed: a stable code for the app. */
export type StepError =
  | 'PROVIDER_UNAVAILABLE'
  | 'PROVIDER_TIMEOUT'
  | 'PROVIDER_REJECTED'
  /** The provider answers 404: it does not offer the step, or does not know the person. */
  | 'PROVIDER_NOT_FOUND'
  | 'PROVIDER_RATE_LIMITED'
  | 'PROVIDER_INVALID_RESPONSE'
  | 'WRONG_CODE'
  /** Too many wrong codes: this one was not checked. */
  | 'CODE_LOCKED'
  /** The submitted content is missing or unreadable and must be submitted again. */
  | 'CONTENT_MISSING'
  /** A step that it waits for has failed: this one did not run. */
  | 'EARLIER_STEP_FAILED'
  /** The CPF has an account, or an application that was approved first. */
  | 'DOCUMENT_IN_USE';

export interface Step {
  readonly name: StepName;
  readonly status: StepStatus;
  /** How often it ran, locally or at the provider. */
  readonly attempts: number;
  /** RFC 3339; null until the step moves. */
  readonly updatedAt: string | null;
  readonly error: StepError | null;
  /** Counts submissions: the result of an earlier submission does not end the step. */
  readonly revision: number;
}

/** The parts of an application that its steps change. */
export interface Progress {
  readonly status: ApplicationStatus;
  readonly kycStatus: KycStatus | null;
  readonly contaBancariaCriada: boolean;
  readonly steps: readonly Step[];
}

/** The requested account. */
export interface Proposal {
  readonly tipo: string;
  readonly observacoes: string | null;
  /** In reais. */
  readonly valorSolicitado: number | null;
}

/** The requested validation. */
export interface ElectronicValidation {
  readonly tipo: number;
}

/** The steps that an applicant submits: all must be done before the analysis. */
export const stepsBeforeKyc = stepNames.slice(0, stepNames.indexOf('kyc'));

/** The steps that must be done before a step runs: the provider must know the person first. */
const waitsFor: Readonly<Record<StepName, readonly StepName[]>> = {
  registration: [],
  address: ['registration'],
  documents: ['registration'],
  proposal: ['registration'],
  electronic_validation: ['registration'],
  electronic_validation_confirm: ['registration', 'electronic_validation'],
  prova_vida: ['registration'],
  kyc: stepsBeforeKyc,
  account: ['registration'],
};

/** The initial state of an application: no step is submitted. */
export function newProgress(): Progress {
  const steps = stepNames.map((name) => {
    const status = 'pending' as const;
    return { name, status, attempts: 0, updatedAt: null, error: null, revision: 0 };
  });
  return { status: 'IN_PROGRESS', kycStatus: null, contaBancariaCriada: false, steps };
}

/** @throws RangeError when the application does not have the step. */
export function getStep({ steps }: Pick<Progress, 'steps'>, name: StepName): Step {
  const step = steps.find((one) => one.name === name);
  if (!step) throw new RangeError(`the application has no step ${name}`);
  return step;
}

/** Whether an application has been decided and accepts no further step. */
export function isFinal({ status }: Pick<Progress, 'status'>): boolean {
  return status === 'APPROVED' || status === 'REJECTED';
}

/** Whether a step was submitted and all steps that it waits for are done. */
export function isReady(progress: Progress, name: StepName): boolean {
  const isQueued = getStep(progress, name).status === 'queued';
  return isQueued && waitsFor[name].every((one) => getStep(progress, one).status === 'done');
}

/** Queues a step with new content, and again the failed steps that it waits for. */
export function queueStep<T extends Progress>(progress: T, name: StepName, now: Date): T {
  const failed = waitsFor[name].filter((one) => getStep(progress, one).status === 'failed');
  const updatedAt = now.toISOString();
  return [...failed, name].reduce(
    (sum, one) =>
      moveStep(sum, one, ({ revision }) => {
        return { status: 'queued', error: null, revision: revision + 1, updatedAt };
      }),
    progress,
  );
}

/** After this time a request for another code is a new request. */
const codeAwaitedMs = 60_000;

/**
 * Whether a repeated request for the code must send a new one: no code has been confirmed, and the
 * one that was sent has been refused or should have arrived by now.
 */
export function isCodeResendDue(progress: Progress, now: Date): boolean {
  const sent = getStep(progress, 'electronic_validation');
  const confirmed = getStep(progress, 'electronic_validation_confirm');
  if (sent.status !== 'done' || sent.updatedAt === null) return false;
  if (confirmed.status !== 'failed' && confirmed.status !== 'pending') return false;
  const sentAt = Date.parse(sent.updatedAt);
  const isRefused = confirmed.status === 'failed' && Date.parse(confirmed.updatedAt ?? '') > sentAt;
  return isRefused || now.getTime() - sentAt >= codeAwaitedMs;
}

/** Counts an attempt of a step before it runs. */
export function beginStep<T extends Progress>(progress: T, name: StepName, now: Date): T {
  const updatedAt = now.toISOString();
  return moveStep(progress, name, ({ attempts }) => ({ attempts: attempts + 1, updatedAt }));
}

/** Sets a step to `done`, or to another status without an error. */
export function endStep<T extends Progress>(
  progress: T,
  name: StepName,
  end: { readonly status?: Exclude<StepStatus, 'failed'>; readonly now: Date },
): T {
  const { status = 'done', now } = end;
  const updatedAt = now.toISOString();
  return moveStep(progress, name, () => ({ status, error: null, updatedAt }));
}

/** Sets a step, and the queued steps that wait for it, to `failed`. */
export function failStep<T extends Progress>(
  progress: T,
  name: StepName,
  failure: { readonly error: StepError; readonly now: Date },
): T {
  const updatedAt = failure.now.toISOString();
  const fail = (sum: T, one: StepName, error: StepError): T =>
    moveStep(sum, one, () => ({ status: 'failed', error, updatedAt }));
  return progress.steps
    .filter((one) => waitsFor[one.name].includes(name) && one.status === 'queued')
    .reduce(
      (sum, one) => fail(sum, one.name, 'EARLIER_STEP_FAILED'),
      fail(progress, name, failure.error),
    );
}

/** Puts an application under analysis when every step before `kyc` is done. */
export function enterAnalysis<T extends Progress>(progress: T, now: Date): T {
  if (progress.status !== 'IN_PROGRESS') return progress;
  const isComplete = stepsBeforeKyc.every((name) => getStep(progress, name).status === 'done');
  if (!isComplete) return progress;
  const waiting = endStep(progress, 'kyc', { status: 'queued', now });
  return { ...waiting, status: 'UNDER_ANALYSIS', kycStatus: 'PENDING' };
}

/**
 * Ends the analysis; an application that is not under analysis is unchanged. The account of an
 * approved application is still to be opened.
 */
export function decide<T extends Progress>(
  progress: T,
  decision: 'APPROVED' | 'REJECTED',
  now: Date,
): T {
  if (progress.status !== 'UNDER_ANALYSIS') return progress;
  const status = decision === 'APPROVED' ? 'queued' : 'not_required';
  const decided = endStep(endStep(progress, 'kyc', { now }), 'account', { status, now });
  return { ...decided, status: decision, kycStatus: decision };
}

/** Ends the analysis of an application whose CPF has an account by now. */
export function rejectForDocument<T extends Progress>(progress: T, now: Date): T {
  if (progress.status !== 'UNDER_ANALYSIS') return progress;
  return failStep(decide(progress, 'REJECTED', now), 'kyc', { error: 'DOCUMENT_IN_USE', now });
}

/** Records that the account of an approved application is open. */
export function accountOpened<T extends Progress>(progress: T, now: Date): T {
  if (progress.status !== 'APPROVED' || progress.contaBancariaCriada) return progress;
  const opened = endStep(beginStep(progress, 'account', now), 'account', { now });
  return { ...opened, contaBancariaCriada: true };
}

/** The decision without a provider: a phone number that ends in 2 is rejected. */
export function decisionWithoutProvider(phone: string): 'APPROVED' | 'REJECTED' {
  return phone.endsWith('2') ? 'REJECTED' : 'APPROVED';
}

/** RG or CNH; proof of residence; selfie: see `submitDocument` in the contract. */
const neededDocuments = [[1, 2], [5], [6]];

/** Whether documents of these types are sufficient for an application. */
export function areEnoughDocuments(types: readonly number[]): boolean {
  return neededDocuments.every((alternatives) => alternatives.some((type) => types.includes(type)));
}

function moveStep<T extends Progress>(
  progress: T,
  name: StepName,
  change: (step: Step) => Partial<Omit<Step, 'name'>>,
): T {
  const steps = progress.steps.map((step) =>
    step.name === name ? { ...step, ...change(step) } : step,
  );
  return { ...progress, steps };
}
