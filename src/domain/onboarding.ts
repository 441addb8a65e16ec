/**
 * The words and the rules of an individual's onboarding.
 *
 *     IN_PROGRESS → UNDER_ANALYSIS → APPROVED | REJECTED
 *
 * An application is made of steps, given in any order while it is IN_PROGRESS. What was given is
 * carried out (`queued → done | failed`) as soon as what it waits for is done. When every step
 * before `kyc` is done the application is under analysis, and a decision ends it.
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

/** Why a step failed: a word of ours, for the app to decide on. */
export type StepError =
  | 'PROVIDER_UNAVAILABLE'
  | 'PROVIDER_TIMEOUT'
  | 'PROVIDER_REJECTED'
  /** The provider answers 404: it does not offer the step, or does not know the person. */
  | 'PROVIDER_NOT_FOUND'
  | 'PROVIDER_RATE_LIMITED'
  | 'PROVIDER_INVALID_RESPONSE'
  | 'WRONG_CODE'
  /** Too many wrong codes: this one was not tried. */
  | 'CODE_LOCKED'
  /** What was given is not here any more, or cannot be read: it has to be given again. */
  | 'CONTENT_MISSING'
  /** The step that it waits for has failed: this one was not tried. */
  | 'EARLIER_STEP_FAILED';

export interface Step {
  readonly name: StepName;
  readonly status: StepStatus;
  /** How often it was tried, here or at the provider. */
  readonly attempts: number;
  /** RFC 3339; null until the step moves. */
  readonly updatedAt: string | null;
  readonly error: StepError | null;
  /** Counts what was given: an answer to an earlier content does not end the step. */
  readonly revision: number;
}

/** What moves of an application. */
export interface Progress {
  readonly status: ApplicationStatus;
  readonly kycStatus: KycStatus | null;
  readonly contaBancariaCriada: boolean;
  readonly steps: readonly Step[];
}

/** The account that is asked for. */
export interface Proposal {
  readonly tipo: string;
  readonly observacoes: string | null;
  /** In reais. */
  readonly valorSolicitado: number | null;
}

/** The validation that is asked for. */
export interface ElectronicValidation {
  readonly tipo: number;
}

/** The steps that an applicant gives: all must be done before the analysis. */
export const stepsBeforeKyc = stepNames.slice(0, stepNames.indexOf('kyc'));

/** What must be done before a step is carried out: the provider has to know the person first. */
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

/** The state that an application begins in: everything is still to be given. */
export function newProgress(): Progress {
  const steps = stepNames.map((name) => {
    const status = 'pending' as const;
    return { name, status, attempts: 0, updatedAt: null, error: null, revision: 0 };
  });
  return { status: 'IN_PROGRESS', kycStatus: null, contaBancariaCriada: false, steps };
}

/** @throws RangeError for an application without the step. */
export function stepOf({ steps }: Pick<Progress, 'steps'>, name: StepName): Step {
  const step = steps.find((one) => one.name === name);
  if (!step) throw new RangeError(`the application has no step ${name}`);
  return step;
}

/** Whether an application has been decided on; it takes no steps then. */
export function isFinal({ status }: Pick<Progress, 'status'>): boolean {
  return status === 'APPROVED' || status === 'REJECTED';
}

/** Whether a step was given and all that it waits for is done. */
export function isReady(progress: Progress, name: StepName): boolean {
  const isQueued = stepOf(progress, name).status === 'queued';
  return isQueued && waitsFor[name].every((one) => stepOf(progress, one).status === 'done');
}

/**
 * Notes that a step was given, with new content: it is to be carried out, and so is anew what it
 * waits for and has failed.
 */
export function queueStep<T extends Progress>(progress: T, name: StepName, now: Date): T {
  const failed = waitsFor[name].filter((one) => stepOf(progress, one).status === 'failed');
  const updatedAt = now.toISOString();
  return [...failed, name].reduce(
    (sum, one) =>
      moveStep(sum, one, ({ revision }) => {
        return { status: 'queued', error: null, revision: revision + 1, updatedAt };
      }),
    progress,
  );
}

/** Nobody waits longer for a code before asking for another one. */
const codeAwaitedMs = 60_000;

/**
 * Whether asking for the code once more is a new request: no code has been right, and the one that
 * was sent has been refused since, or has had its time to come. Otherwise it is a repeat.
 */
export function isCodeWanted(progress: Progress, now: Date): boolean {
  const sent = stepOf(progress, 'electronic_validation');
  const confirmed = stepOf(progress, 'electronic_validation_confirm');
  if (sent.status !== 'done' || sent.updatedAt === null) return false;
  if (confirmed.status !== 'failed' && confirmed.status !== 'pending') return false;
  const sentAt = Date.parse(sent.updatedAt);
  const isRefused = confirmed.status === 'failed' && Date.parse(confirmed.updatedAt ?? '') > sentAt;
  return isRefused || now.getTime() - sentAt > codeAwaitedMs;
}

/** Counts a try of a step, before it is made. */
export function beginStep<T extends Progress>(progress: T, name: StepName, now: Date): T {
  const updatedAt = now.toISOString();
  return moveStep(progress, name, ({ attempts }) => ({ attempts: attempts + 1, updatedAt }));
}

/** Notes that a step is done, or what else it has come to without a fault. */
export function endStep<T extends Progress>(
  progress: T,
  name: StepName,
  end: { readonly status?: Exclude<StepStatus, 'failed'>; readonly now: Date },
): T {
  const { status = 'done', now } = end;
  const updatedAt = now.toISOString();
  return moveStep(progress, name, () => ({ status, error: null, updatedAt }));
}

/** Notes that a step has failed, and with it what waits for it: nothing is under way any more. */
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

/** Brings an application under analysis when every step before `kyc` is done. */
export function enterAnalysis<T extends Progress>(progress: T, now: Date): T {
  if (progress.status !== 'IN_PROGRESS') return progress;
  const isComplete = stepsBeforeKyc.every((name) => stepOf(progress, name).status === 'done');
  if (!isComplete) return progress;
  const waiting = endStep(progress, 'kyc', { status: 'queued', now });
  return { ...waiting, status: 'UNDER_ANALYSIS', kycStatus: 'PENDING' };
}

/**
 * Ends the analysis; an application that is not under analysis stays as it is. The account of an
 * approved one is still to be opened.
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

/** Notes that the account of an approved application is open. */
export function accountOpened<T extends Progress>(progress: T, now: Date): T {
  if (progress.status !== 'APPROVED' || progress.contaBancariaCriada) return progress;
  const opened = endStep(beginStep(progress, 'account', now), 'account', { now });
  return { ...opened, contaBancariaCriada: true };
}

/**
 * Who is approved where there is nobody to ask: a phone that ends in 2 stands for somebody who is
 * not.
 */
export function localDecision(phone: string): 'APPROVED' | 'REJECTED' {
  return phone.endsWith('2') ? 'REJECTED' : 'APPROVED';
}

/** RG or CNH; proof of residence; selfie: as `submitDocument` of the contract asks for them. */
const neededDocuments = [[1, 2], [5], [6]];

/** Whether documents of these types are all that an application needs. */
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
