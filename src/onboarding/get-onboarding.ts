import { findApplication } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import type { PublicOperation } from '../http/operation.ts';

/** The application as it is stored here; the provider is not asked. */
export const getOnboarding: PublicOperation<'getOnboarding'> = {
  access: 'public',
  async run(context, { input, request }) {
    const caller = { ...input.path, clientAddress: request.clientAddress };
    const application = await findApplication(context, caller);
    return { status: 200, body: applicationReply(application) };
  },
};
