import { readPerson } from '../../domain/person.ts';
import { AppError } from '../../errors.ts';
import { registerPerson } from '../../services/onboarding-registration.ts';
import { applicationReply } from '../../services/onboarding-reply.ts';
import type { PublicOperation } from '../operation.ts';

/** Registers an individual and starts the application; the person may log in from now on. */
export const startOnboarding: PublicOperation<'startOnboarding'> = {
  access: 'public',
  async run(context, { input }) {
    const person = readPerson(input.body);
    if (person.faults) throw new AppError('VALIDATION_FAILED', { fields: person.faults });
    const application = await registerPerson(context, person.value, null);
    return { status: 201, body: applicationReply(application) };
  },
};
