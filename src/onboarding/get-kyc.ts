import { refreshKyc } from './kyc.ts';
import { findApplicant } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import type { PublicOperation } from '../context/operation.ts';

/** Fetches the decision if it is due; a failure of the provider does not fail the request. */
export const getKyc: PublicOperation<'getKyc'> = {
  access: 'public',
  async run(context, { input, request }) {
    const caller = { ...input.path, clientAddress: request.clientAddress };
    const found = await findApplicant(context, caller);
    const application = await refreshKyc(context, found, request.callOptions);
    return { status: 200, body: { application: applicationReply(application) } };
  },
};
