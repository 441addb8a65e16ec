import { refreshKyc } from '../../services/onboarding-kyc.ts';
import { applicationReply, findApplication } from '../../services/onboarding.ts';
import type { PublicOperation } from '../operation.ts';

/** Brings the decision, where one is due; a provider that fails leaves the application as it is. */
export const getKyc: PublicOperation<'getKyc'> = {
  access: 'public',
  async run(context, { input, request }) {
    const { applicationId } = input.path;
    const found = await findApplication(context, applicationId, request.clientAddress);
    const application = await refreshKyc(context, found, request.callOptions);
    return { status: 200, body: { application: applicationReply(application) } };
  },
};
