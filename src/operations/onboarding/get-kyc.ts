import { refreshKyc } from '../../services/onboarding-kyc.ts';
import { findApplicant } from '../../services/onboarding-applicant.ts';
import { applicationReply } from '../../services/onboarding-reply.ts';
import type { PublicOperation } from '../operation.ts';

/** Brings the decision, where one is due; a provider that fails leaves the application as it is. */
export const getKyc: PublicOperation<'getKyc'> = {
  access: 'public',
  async run(context, { input, request }) {
    const caller = { ...input.path, clientAddress: request.clientAddress };
    const found = await findApplicant(context, caller);
    const application = await refreshKyc(context, found, request.callOptions);
    return { status: 200, body: { application: applicationReply(application) } };
  },
};
