/** The registration of an individual, the first step of an onboarding. */
import { randomUUID } from 'node:crypto';
import type { LocalContext } from '../context/context.ts';
import { inTransaction } from '../db/unit-of-work.ts';
import { newProgress } from '../domain/onboarding.ts';
import {
  refusedPersonErrors,
  type Address,
  type Person,
  type RefusedPerson,
} from '../domain/person.ts';
import { AppError, type Text } from '../errors.ts';
import { emptyContent } from './application-row.ts';
import { markSubmitted, startApplication, type Application } from './application.ts';
import { costlyThrottles, countAttempt, widestNetwork } from '../auth/throttle.ts';
import { createUser, type NewUser } from '../auth/user-repository.ts';
import { dayMs } from '../clock.ts';
import { releaseEmail } from './application-repository.ts';

const taken: Text = {
  en: 'This e-mail cannot be used.',
  pt: 'Não é possível usar este e-mail.',
};

/**
 * Checks the e-mail and the password of a registration that the contract refuses; null where one is
 * invalid.
 * @throws AppError VALIDATION_FAILED naming those that a registration refuses.
 */
export function checkRefusedPerson(form: RefusedPerson): void {
  const fields = refusedPersonErrors(form);
  if (fields) throw new AppError('VALIDATION_FAILED', { fields });
}

export interface Registration {
  readonly person: Person;
  readonly address: Address | null;
  readonly clientAddress: string;
}

/** A registration costs a hash: an address has this many a minute, or a twentieth of all. */
const registrations = { scope: 'registration-hash', perMinute: 30, share: 1 / 20 } as const;

/**
 * Registers a person and starts the application, in one commit. The password is always hashed
 * first, so that the response time does not reveal whether the e-mail is known. Nothing tells
 * whether the document is: the first application with it to be approved has it.
 * @throws AppError VALIDATION_FAILED naming `email` when it is in use, and THROTTLED.
 */
export async function registerPerson(
  context: LocalContext,
  { person, address, clientAddress }: Registration,
): Promise<Application> {
  const { name, email, document, phone } = person;
  await countAttempt(context, costlyThrottles(context, registrations, clientAddress));
  const passwordHash = await context.passwords.hash(person.password, widestNetwork(clientAddress));
  return inTransaction(context, async (transaction) => {
    const user = { name, email, document, personType: 'PF', phone, passwordHash } as const;
    const id = (await createUser(transaction, user)) ?? (await takeOver(transaction, user));
    if (id === null) {
      throw new AppError('VALIDATION_FAILED', { fields: { email: [taken] } });
    }
    const application: Application = {
      ...newProgress(),
      ...emptyContent,
      id: randomUUID(),
      applicant: { id, name, email, document, phone },
      personType: 'PF',
      address,
    };
    const registered = markSubmitted(context, application, 'registration');
    const started = address ? markSubmitted(context, registered, 'address') : registered;
    await startApplication(transaction, started);
    return started;
  });
}

/** How long an application that leads nowhere keeps its e-mail, in ms. */
const emailKeptMs = dayMs;

/**
 * Registers a user with an e-mail that an application holds which has led nowhere: anyone can
 * register with an e-mail that is not theirs. The application stays until somebody else registers.
 * @returns the new user's id, or null when the e-mail is in use.
 */
async function takeOver(transaction: LocalContext, user: NewUser): Promise<number | null> {
  const registeredBefore = new Date(transaction.clock.now().getTime() - emailKeptMs);
  const isReleased = await releaseEmail(transaction, { email: user.email, registeredBefore });
  return isReleased ? createUser(transaction, user) : null;
}
