import { applicationReply, findApplication } from '../../services/onboarding.ts';
import type { PublicOperation } from '../operation.ts';

/** The application as it is stored here; the provider is not asked. */
export const getOnboarding: PublicOperation<'getOnboarding'> = {
  access: 'public',
  async run(context, { input, request }) {
    const { applicationId } = input.path;
    const application = await findApplication(context, applicationId, request.clientAddress);
    return { status: 200, body: applicationReply(application) };
  },
};
