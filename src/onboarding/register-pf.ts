import { readAddress, readPerson } from '../domain/person.ts';
import { AppError } from '../errors.ts';
import { checkRefusedPerson, registerPerson } from '../onboarding/registration.ts';
import { applicationReply } from '../onboarding/application-reply.ts';
import type { PublicOperation } from '../context/operation.ts';

const message = { en: 'The registration was received.', pt: 'O cadastro foi recebido.' };

/** Registers an individual in one request: starts an onboarding, with an optional address. */
export const registerPf: PublicOperation<'registerPf'> = {
  access: 'public',
  checkRefused: (_context, { body }) => checkRefusedPerson(body),
  async run(context, { input, request }) {
    const { address: addressForm, ...form } = input.body;
    const person = readPerson(form);
    const address = addressForm ? readAddress(addressForm, 'address.') : null;
    if (person.errors || address?.errors) {
      const fields = { ...person.errors, ...address?.errors };
      throw new AppError('VALIDATION_FAILED', { fields });
    }
    const { clientAddress } = request;
    const registration = { person: person.value, address: address?.value ?? null, clientAddress };
    const application = await registerPerson(context, registration);
    return {
      status: 201,
      body: {
        user_id: application.applicant.id,
        account_id: null,
        onboarding_id: application.id,
        pessoa_fisica_id: application.pessoaFisicaId,
        message: message[request.locale],
        onboarding: applicationReply(application),
      },
    };
  },
};
