import { findApplication } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import type { PublicOperation } from '../context/operation.ts';

/** Returns the stored application without calling the provider. */
export const getOnboarding: PublicOperation<'getOnboarding'> = {
  access: 'public',
  async run(context, { input, request }) {
    const caller = { ...input.path, clientAddress: request.clientAddress };
    const application = await findApplication(context, caller);
    return { status: 200, body: applicationReply(application) };
  },
};
