/** What an application was given and still has, whichever way its steps were carried out so far. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { LocalContext } from '../context.ts';
import {
  areEnoughDocuments,
  beginStep,
  endStep,
  failStep,
  stepOf,
  stepsBeforeKyc,
  type StepName,
} from '../domain/onboarding.ts';
import type { Application } from './application-row.ts';
import { findDocumentTypes } from './document-repository.ts';
import { codeConfirmed, isLocked, isRightHere, openCodeIfReadable } from './sealed-code.ts';

/**
 * Whether what a step was given is stored with the application. Documents are rows of their own,
 * and a proof of life is nothing that could be stored.
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

/** @returns what the step has come to once every document so far is where it belongs. */
export async function documentsStatus(
  em: EntityManager,
  { id }: Application,
): Promise<'done' | 'pending'> {
  return areEnoughDocuments(await findDocumentTypes(em, id)) ? 'done' : 'pending';
}

/**
 * Carries out here what was given while the provider was asked, and is not done: where onboarding
 * is local, nobody else does it. A proof of life has to be asked for: it ends with a page to show.
 * @returns the same application where there is nothing of the kind.
 */
export async function endGivenSteps(
  context: LocalContext,
  em: EntityManager,
  application: Application,
): Promise<Application> {
  let ended = application;
  for (const name of stepsBeforeKyc) {
    const { status } = stepOf(application, name);
    const isOpen = status === 'queued' || status === 'failed';
    if (isOpen && name !== 'prova_vida' && hasContent(application, name)) {
      ended = await endHere(context, em, { application: ended, name });
    }
  }
  return ended;
}

async function endHere(
  context: LocalContext,
  em: EntityManager,
  { application, name }: { readonly application: Application; readonly name: StepName },
): Promise<Application> {
  if (name === 'electronic_validation_confirm') return compareCode(context, application);
  const now = context.clock.now();
  const status = name === 'documents' ? await documentsStatus(em, application) : 'done';
  return endStep(beginStep(application, name, now), name, { status, now });
}

/**
 * Compares a code that was typed for the provider. A wrong one is dropped and not counted: the lock
 * it might bring would refuse the change that it comes with, and would be undone with that, each
 * time anew. Whatever is typed from now on is counted.
 */
function compareCode(context: LocalContext, application: Application): Application {
  const name = 'electronic_validation_confirm';
  const now = context.clock.now();
  const dropped = { ...application, sealedCode: null };
  const code = openCodeIfReadable(context, application);
  if (code === null) return failStep(dropped, name, { error: 'CONTENT_MISSING', now });
  if (isLocked(context, application)) return application;
  if (!isRightHere(code)) {
    return failStep(beginStep(dropped, name, now), name, { error: 'WRONG_CODE', now });
  }
  return endStep(beginStep({ ...application, ...codeConfirmed }, name, now), name, { now });
}
