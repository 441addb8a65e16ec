import { readPerson } from '../domain/person.ts';
import { AppError } from '../errors.ts';
import { checkRefusedPerson, registerPerson } from './registration.ts';
import { applicationReply } from './application-reply.ts';
import type { PublicOperation } from '../context/operation.ts';

/** Registers an individual, who may then log in, and starts the application. */
export const startOnboarding: PublicOperation<'startOnboarding'> = {
  access: 'public',
  checkRefused: (_context, { body }) => checkRefusedPerson(body),
  async run(context, { input, request }) {
    const person = readPerson(input.body);
    if (person.errors) throw new AppError('VALIDATION_FAILED', { fields: person.errors });
    const { clientAddress } = request;
    const registration = { person: person.value, address: null, clientAddress };
    const application = await registerPerson(context, registration);
    return { status: 201, body: applicationReply(application) };
  },
};
