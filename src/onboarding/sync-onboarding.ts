import { syncApplication } from './resume-steps.ts';
import { applicationReply } from './application-reply.ts';
import type { PublicOperation } from '../http/operation.ts';

const message = {
  en: 'The synchronisation has started.',
  pt: 'A sincronização foi iniciada.',
};

/** Resumes the submitted steps that are not done. */
export const syncOnboarding: PublicOperation<'syncOnboarding'> = {
  access: 'public',
  async run(context, { input, request }) {
    const caller = { ...input.path, clientAddress: request.clientAddress };
    const application = await syncApplication(context, caller);
    return {
      status: 202,
      body: { message: message[request.locale], application: applicationReply(application) },
    };
  },
};
