/** The submitted content of an application, and its completion with local onboarding. */
import type { LocalContext } from '../context/context.ts';
import {
  areEnoughDocuments,
  beginStep,
  endStep,
  failStep,
  getStep,
  stepsBeforeKyc,
  type StepName,
} from '../domain/onboarding.ts';
import type { Application } from './application-row.ts';
import { findDocumentTypes } from './document-repository.ts';
import { codeConfirmed, isLocked, matchesTestCode, openCodeIfReadable } from './validation-code.ts';

/**
 * Whether the application has the content of a step. Documents have their own rows, and a proof of
 * life has no content.
 */
export function hasContent(application: Application, name: StepName): boolean {
  switch (name) {
    case 'address':
      return application.address !== null;
    case 'proposal':
      return application.proposal !== null;
    case 'electronic_validation':
      return application.validation !== null;
    case 'electronic_validation_confirm':
      return application.sealedCode !== null;
    case 'registration':
    case 'documents':
    case 'prova_vida':
    case 'kyc':
    case 'account':
      return true;
  }
}

/** @returns the status of the step when every document so far has been processed. */
export async function documentsStatus(
  context: Pick<LocalContext, 'db'>,
  { id }: Application,
): Promise<'done' | 'pending'> {
  return areEnoughDocuments(await findDocumentTypes(context, id)) ? 'done' : 'pending';
}

/**
 * Completes locally the steps that were submitted for the provider and are not done. A proof of
 * life is excluded, because it must be requested to return a page.
 * @returns the same application when there is no such step.
 */
export async function completeSubmittedSteps(
  context: LocalContext,
  application: Application,
): Promise<Application> {
  let ended = application;
  for (const name of stepsBeforeKyc) {
    const { status } = getStep(application, name);
    const isOpen = status === 'queued' || status === 'failed';
    if (isOpen && name !== 'prova_vida' && hasContent(application, name)) {
      ended = await endHere(context, { application: ended, name });
    }
  }
  return ended;
}

async function endHere(
  context: LocalContext,
  { application, name }: { readonly application: Application; readonly name: StepName },
): Promise<Application> {
  if (name === 'electronic_validation_confirm') return compareCode(context, application);
  const now = context.clock.now();
  const status = name === 'documents' ? await documentsStatus(context, application) : 'done';
  return endStep(beginStep(application, name, now), name, { status, now });
}

/**
 * Compares a code that was submitted for the provider. A wrong code is dropped without being
 * counted: a resulting lock would refuse the current change and be rolled back with it, every time.
 */
function compareCode(context: LocalContext, application: Application): Application {
  const name = 'electronic_validation_confirm';
  const now = context.clock.now();
  const dropped = { ...application, sealedCode: null };
  const code = openCodeIfReadable(context, application);
  if (code === null) return failStep(dropped, name, { error: 'CONTENT_MISSING', now });
  if (isLocked(context, application)) return application;
  if (!matchesTestCode(code)) {
    return failStep(beginStep(dropped, name, now), name, { error: 'WRONG_CODE', now });
  }
  return endStep(beginStep({ ...application, ...codeConfirmed }, name, now), name, { now });
}
