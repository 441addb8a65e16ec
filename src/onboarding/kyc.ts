/** The decision on an application, and the resulting account. */
import { isCpfTaken } from '../accounts/account-repository.ts';
import type { Context, LocalContext } from '../context/context.ts';
import {
  beginStep,
  decide,
  endStep,
  failStep,
  decisionWithoutProvider,
  getStep,
  rejectForDocument,
  stepsBeforeKyc,
  type StepName,
} from '../domain/onboarding.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CallOptions, KycDecision } from '../provider/provider.ts';
import { openLocalAccount, openProviderAccount, sealClientToken } from './account.ts';
import { toStepError } from './step-failure.ts';
import { changeApplication, type Application } from './application.ts';

/**
 * Fetches the decision on an application if it is due: with local onboarding it is made here,
 * otherwise by the provider. A failure of the provider changes only the step.
 * @returns the changed application.
 */
export function refreshKyc(
  context: Context,
  application: Application,
  options: CallOptions = {},
): Promise<Application> {
  if (context.config.onboardingLocalOnly) return decideLocally(context, application);
  return askProvider(context, application, options);
}

/**
 * Returns the pending final step of an application: the decision, or the account of an approved
 * application whose number the provider has not reported yet.
 */
export function openEnd({
  status,
  contaBancariaCriada,
}: Pick<Application, 'status' | 'contaBancariaCriada'>): 'kyc' | 'account' | null {
  if (status === 'UNDER_ANALYSIS') return 'kyc';
  return status === 'APPROVED' && !contaBancariaCriada ? 'account' : null;
}

/** Whether the provider has everything that it needs for the decision. */
export function isDueForDecision(application: Application): boolean {
  if (application.status !== 'UNDER_ANALYSIS' || application.pessoaFisicaId === null) return false;
  return stepsBeforeKyc.every((name) => getStep(application, name).status === 'done');
}

async function decideLocally(
  context: LocalContext,
  application: Application,
): Promise<Application> {
  if (application.status !== 'UNDER_ANALYSIS') return application;
  return changeApplication(context, application.id, async (stored, transaction) => {
    if (stored.status !== 'UNDER_ANALYSIS') return stored;
    const begun = beginStep(stored, 'kyc', context.clock.now());
    const decision = decisionWithoutProvider(stored.applicant.phone);
    const decided = await decideOnce(transaction, { application: begun, decision });
    return decided.status === 'APPROVED' ? openLocalAccount(transaction, decided) : decided;
  });
}

interface Decided {
  readonly application: Application;
  readonly decision: 'APPROVED' | 'REJECTED';
}

/** The first application of a CPF to be approved has it; the others are rejected. */
async function decideOnce(
  context: LocalContext,
  { application, decision }: Decided,
): Promise<Application> {
  const now = context.clock.now();
  const { id: userId, document } = application.applicant;
  const isDue = application.status === 'UNDER_ANALYSIS' && decision === 'APPROVED';
  const isTaken = isDue && (await isCpfTaken(context, { userId, document }));
  return isTaken ? rejectForDocument(application, now) : decide(application, decision, now);
}

async function askProvider(
  context: Context,
  application: Application,
  options: CallOptions,
): Promise<Application> {
  const { id, pessoaFisicaId } = application;
  const end = openEnd(application);
  if (end === 'kyc' && !isDueForDecision(application)) {
    return changeApplication(context, id, (stored) => reportGap(context, stored));
  }
  if (end === null || pessoaFisicaId === null) return application;
  try {
    const decision = await context.provider.kyc({ personId: pessoaFisicaId, ...options });
    return await changeApplication(context, id, (stored, transaction) =>
      applyDecision(transaction, { stored, decision }),
    );
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return changeApplication(context, id, (stored) => failEnd(context, stored, error));
  }
}

/**
 * Marks the decision as failed if the provider lacks earlier steps and none of them is queued: the
 * applicant must then act. This happens to an application that began without the provider.
 */
function reportGap(context: LocalContext, stored: Application): Application {
  if (openEnd(stored) !== 'kyc' || isDueForDecision(stored)) return stored;
  const isInProgress = stepsBeforeKyc.some((name) => getStep(stored, name).status === 'queued');
  const error = 'EARLIER_STEP_FAILED';
  if (isInProgress || getStep(stored, 'kyc').error === error) return stored;
  return failStep(stored, 'kyc', { error, now: context.clock.now() });
}

async function applyDecision(
  context: LocalContext,
  { stored, decision }: { readonly stored: Application; readonly decision: KycDecision },
): Promise<Application> {
  const end = openEnd(stored);
  if (end === null) return stored;
  const counted = countKycAttempt(context, stored, end);
  if (decision.status === 'PENDING') return counted;
  const decided = await decideOnce(context, {
    application: counted,
    decision: decision.status,
  });
  if (openEnd(decided) !== 'account' || decision.status !== 'APPROVED') return decided;
  const clientToken = sealClientToken(context, stored.applicant.id, decision.clientToken);
  const approved = { ...decided, clientToken: clientToken ?? decided.clientToken };
  const agency = decision.agency ?? stored.agency;
  const accountNumber = decision.accountNumber ?? stored.accountNumber;
  if (agency === null || accountNumber === null) return approved;
  const account = { agency, accountNumber };
  return openProviderAccount(context, { application: approved, account });
}

/** Counts a request to the provider; the step keeps waiting. */
function countKycAttempt(
  context: LocalContext,
  application: Application,
  name: StepName,
): Application {
  const now = context.clock.now();
  return endStep(beginStep(application, name, now), name, { status: 'queued', now });
}

function failEnd(context: LocalContext, stored: Application, error: ProviderError): Application {
  const end = openEnd(stored);
  if (end === null) return stored;
  const now = context.clock.now();
  return failStep(beginStep(stored, end, now), end, { error: toStepError(error), now });
}
