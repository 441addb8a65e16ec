import { submitStep } from './step-submission.ts';
import { admitApplicant } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import type { PublicOperation } from '../context/operation.ts';

const message = { en: 'The validation was requested.', pt: 'A validação foi solicitada.' };

/** Requests the code of the electronic validation, which the provider sends to the person. */
export const requestElectronicValidation: PublicOperation<'requestElectronicValidation'> = {
  access: 'public',
  admit: admitApplicant,
  async run(context, { input, request }) {
    const validation = { tipo: input.body?.tipo ?? 1 };
    const caller = { ...input.path, clientAddress: request.clientAddress };
    const application = await submitStep(context, caller, {
      name: 'electronic_validation',
      content: { validation },
    });
    return {
      status: 202,
      body: { message: message[request.locale], application: applicationReply(application) },
    };
  },
};
