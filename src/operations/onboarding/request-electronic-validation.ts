import { submitStep } from '../../services/onboarding-steps.ts';
import { applicationReply } from '../../services/onboarding.ts';
import type { PublicOperation } from '../operation.ts';

const message = { en: 'The validation was requested.', pt: 'A validação foi solicitada.' };

/** Has the code of the electronic validation sent to the person. */
export const requestElectronicValidation: PublicOperation<'requestElectronicValidation'> = {
  access: 'public',
  async run(context, { input, request }) {
    const validation = { tipo: input.body?.tipo ?? 1 };
    const application = await submitStep(
      context,
      { ...input.path, clientAddress: request.clientAddress },
      { name: 'electronic_validation', content: { validation } },
    );
    return {
      status: 202,
      body: { message: message[request.locale], application: applicationReply(application) },
    };
  },
};
