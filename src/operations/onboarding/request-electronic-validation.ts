import { submitStep } from '../../services/onboarding-steps.ts';
import { admitApplicant } from '../../services/onboarding-applicant.ts';
import { applicationReply } from '../../services/onboarding-reply.ts';
import type { PublicOperation } from '../operation.ts';

const message = { en: 'The validation was requested.', pt: 'A validação foi solicitada.' };

/** Has the code of the electronic validation sent to the person. */
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
