import { submitStep } from '../../services/onboarding-steps.ts';
import { admitApplicant, applicationReply } from '../../services/onboarding.ts';
import type { PublicOperation } from '../operation.ts';

const message = { en: 'The validation was requested.', pt: 'A validação foi solicitada.' };

/** Has the code of the electronic validation sent to the person. */
export const requestElectronicValidation: PublicOperation<'requestElectronicValidation'> = {
  access: 'public',
  admit: admitApplicant,
  async run(context, { input, request }) {
    const validation = { tipo: input.body?.tipo ?? 1 };
    const application = await submitStep(context, input.path.applicationId, {
      name: 'electronic_validation',
      content: { validation },
    });
    return {
      status: 202,
      body: { message: message[request.locale], application: applicationReply(application) },
    };
  },
};
